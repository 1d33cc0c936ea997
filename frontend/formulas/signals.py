"""Signals: filters, windows, transforms."""

from __future__ import annotations

from einderive.frontend.formulas.written import positive, real, result, unit, written

OPPENHEIM = "A. Oppenheim and R. Schafer, Discrete-Time Signal Processing, "
SCIPY = "SciPy documentation, scipy.signal"

SIGNALS = (
    written(
        "moving average",
        OPPENHEIM + "2.2",
        "y[i] = mean[r](x[i+r]) where i in 0:n-4, r in 0:5",
        'np.convolve(x, np.ones(5, x.dtype) / 5, "valid")',
        x=real("n"),
        n=(12, 1 << 18),
        given="n",
    ),
    written(
        "convolution, full",
        "NumPy documentation, numpy.convolve",
        "y[i] = x[i-r]*h[r] where i in 0:n+m-1",
        "np.convolve(x, h)",
        x=real("n"),
        h=real("m"),
        n=(12, 1 << 16),
        m=(3, 31),
        given="n m",
    ),
    written(
        "correlation, same length",
        "NumPy documentation, numpy.correlate",
        "y[i] = x[i+r-2]*h[r]",
        'np.correlate(x, h, "same")',
        x=real("n"),
        h=real(5),
        y=result("n"),
        n=(12, 1 << 18),
    ),
    written(
        "FIR filter of channels",
        OPPENHEIM + "6.5",
        "y[c,i] = x[c,i-r]*h[r] where i in 0:n",
        "np.stack([np.convolve(row, h)[: len(row)] for row in x])",
        x=real("c", "n"),
        h=real(9),
        c=(2, 8),
        n=(12, 1 << 15),
        given="n",
    ),
    written(
        "Hann window",
        SCIPY + ".windows.hann",
        "y[c,i] = x[c,i] * (0.5 - 0.5*cos(2*pi*i/size(i)))",
        """
        i = np.arange(x.shape[1], dtype=x.dtype)
        x * (0.5 - 0.5 * np.cos(2 * np.pi * i / x.shape[1]))
        """,
        x=real("c", "n"),
        c=(2, 64),
        n=(12, 4096),
    ),
    written(
        "Gaussian window",
        SCIPY + ".windows.gaussian",
        "y[c,i] = x[c,i] * exp(-((i - (size(i)-1)/2)/7)^2/2)",
        """
        i = np.arange(x.shape[1], dtype=x.dtype) - (x.shape[1] - 1) / 2
        x * np.exp(-((i / 7) ** 2) / 2).astype(x.dtype)
        """,
        x=real("c", "n"),
        c=(2, 64),
        n=(12, 4096),
    ),
    written(
        "discrete Fourier transform, its power",
        OPPENHEIM + "8.1",
        """
        R[k] = x[i]*cos(2*pi*k*i/n) where k in 0:n      # real part
        I[k] = -sum[i](x[i]*sin(2*pi*k*i/n)) where k in 0:n
        P[k] = (R[k]^2 + I[k]^2)/n
        """,
        "np.abs(np.fft.fft(x)) ** 2 / len(x)",
        x=real("n"),
        n=(8, 1024),
        given="n",
    ),
    written(
        "discrete cosine transform of rows",
        "SciPy documentation, scipy.fft.dct, type II",
        "y[b,k] = 2*sum[i](x[b,i]*cos(pi*k*(2*i+1)/(2*n))) where k in 0:n",
        """
        i = np.arange(x.shape[1])
        x @ (2 * np.cos(np.pi * np.outer(2 * i + 1, i) / (2 * len(i)))).astype(x.dtype)
        """,
        x=real("b", "n"),
        b=(2, 256),
        n=(8, 256),
        given="n",
    ),
    written(
        "frames of a signal",
        "librosa documentation, librosa.util.frame",
        "y[f,t] = x[4*f+t] where f in 0:m, t in 0:8",
        "np.lib.stride_tricks.sliding_window_view(x, 8)[::4]",
        x=real("4*m+4"),
        m=(5, 1 << 16),
        given="m",
    ),
    written(
        "decimation, after averaging",
        OPPENHEIM + "4.6",
        "y[i] = mean[r](x[4*i+r]) where r in 0:4",
        "x.reshape(-1, 4).mean(axis=1)",
        x=real("4*m"),
        y=result("m"),
        m=(5, 1 << 18),
    ),
    written(
        "linear interpolation to twice the rate",
        OPPENHEIM + "4.6",
        "y[i] = where(i%2 == 0, x[i//2], (x[i//2] + x[i//2+1])/2) where i in 0:2*n-1",
        "np.interp(np.arange(2 * len(x) - 1) / 2, np.arange(len(x)), x)",
        x=real("n"),
        n=(6, 1 << 18),
        given="n",
    ),
    written(
        "first difference with pre-emphasis",
        "L. Rabiner and R. Schafer, Digital Processing of Speech Signals, 8.1",
        "y[c,i] = x[c,i] - 0.97*where(i > 0, x[c,i-1], 0)",
        """
        y = x.copy()
        y[:, 1:] -= 0.97 * x[:, :-1]
        y
        """,
        x=real("c", "n"),
        c=(2, 16),
        n=(12, 1 << 15),
    ),
    written(
        "root mean square of frames",
        "librosa documentation, librosa.feature.rms",
        "r[f] = mean[t](x[4*f+t]^2)^0.5 where f in 0:m, t in 0:8",
        """
        frames = np.lib.stride_tricks.sliding_window_view(x, 8)[::4]
        np.sqrt((frames**2).mean(axis=1))
        """,
        x=real("4*m+4"),
        m=(5, 1 << 16),
        given="m",
    ),
    written(
        "zero crossings",
        "librosa documentation, librosa.feature.zero_crossing_rate",
        "z[c] = count[i](x[c,i]*x[c,i+1] < 0) where i in 0:n-1",
        "(x[:, :-1] * x[:, 1:] < 0).sum(axis=1)",
        x=real("c", "n"),
        c=(2, 16),
        n=(12, 1 << 15),
        given="n",
    ),
    written(
        "decibels, from a floor",
        "librosa documentation, librosa.power_to_db",
        "D[i,j] = max(10*log10(max(S[i,j], 1e-10)), -80)",
        "np.maximum(10 * np.log10(np.maximum(S, 1e-10)), -80)",
        S=positive("n", "m"),
        n=(5, 1024),
        m=(4, 1024),
    ),
    written(
        "mu-law companding",
        "torchaudio documentation, mu_law_encoding",
        "y[i] = sign(x[i])*log1p(255*abs(x[i]))/log(256)",
        "np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256)",
        x=real("n"),
        n=(9, 1 << 20),
    ),
    written(
        "peaks",
        SCIPY + ".argrelmax",
        "p[i] = x[i+1] > x[i] and x[i+1] > x[i+2] where i in 0:n-2",
        "(x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])",
        x=real("n"),
        n=(9, 1 << 20),
        given="n",
    ),
    written(
        "linear chirp",
        SCIPY + ".chirp",
        "y[i] = cos(2*pi*(10*t[i] + 45*t[i]^2))",
        "np.cos(2 * np.pi * (10 * t + 45 * t**2))",
        t=unit("n"),
        n=(9, 1 << 20),
    ),
    written(
        "mel filter bank, then the logarithm",
        "torchaudio documentation, MelSpectrogram",
        "M[f,b] = log(sum[k](S[f,k]*W[k,b]) + 1e-6)",
        "np.log(S @ W + 1e-6)",
        S=positive("f", "k"),
        W=positive("k", "b"),
        f=(4, 2048),
        k=(6, 257),
        b=(3, 80),
    ),
    written(
        "exponential smoothing by weights",
        "pandas documentation, DataFrame.ewm, adjust=False without its start",
        "y[i] = 0.1*sum[j](where(j <= i, 0.9^(i-j)*x[j], 0))",
        """
        i = np.arange(len(x))
        0.1 * (np.tril(0.9 ** np.maximum(i[:, None] - i, 0)).astype(x.dtype) @ x)
        """,
        x=real("n"),
        n=(9, 1024),
    ),
)
