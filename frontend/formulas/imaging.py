"""Images: filters, colours, thresholds, resampling."""

from __future__ import annotations

from einderive.frontend.formulas.written import index, real, result, unit, whole, written

GONZALEZ = "R. Gonzalez and R. Woods, Digital Image Processing, "
HEIGHT, WIDTH = (6, 512), (7, 640)

IMAGING = (
    written(
        "luminance",
        "scikit-image documentation, color.rgb2gray",
        "G[h,w] = 0.2125*I[h,w,0] + 0.7154*I[h,w,1] + 0.0721*I[h,w,2]",
        "I @ np.array([0.2125, 0.7154, 0.0721], I.dtype)",
        I=unit("h", "w", 3),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "gamma correction",
        GONZALEZ + "3.2",
        "Y[h,w] = 1.5*I[h,w]^0.45",
        "1.5 * I**0.45",
        I=unit("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "sRGB to linear",
        "IEC 61966-2-1",
        """
        L[h,w,c] = where(I[h,w,c] <= 0.04045,
                         I[h,w,c]/12.92,
                         ((I[h,w,c] + 0.055)/1.055)^2.4)
        """,
        "np.where(I <= 0.04045, I / 12.92, ((I + 0.055) / 1.055) ** 2.4)",
        I=unit("h", "w", 3),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "contrast stretched to the whole range",
        GONZALEZ + "3.2",
        """
        lo = min[h,w](I[h,w])
        hi = max[h,w](I[h,w])
        Y[h,w] = (I[h,w] - lo)/(hi - lo)
        """,
        "(I - I.min()) / (I.max() - I.min())",
        I=real("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "quantised to eight bits",
        GONZALEZ + "2.4",
        "Y[h,w] = clip(round(255*I[h,w]), 0, 255)",
        "np.clip(np.round(255 * I), 0, 255)",
        I=real("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "box blur",
        "SciPy documentation, scipy.ndimage.uniform_filter",
        "Y[h,w] = mean[r,s](I[h+r,w+s]) where h in 0:H-2, w in 0:W-2, r in 0:3, s in 0:3",
        "np.lib.stride_tricks.sliding_window_view(I, (3, 3)).mean(axis=(2, 3))",
        I=real("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="H W",
    ),
    written(
        "Gaussian blur, separable",
        "SciPy documentation, scipy.ndimage.gaussian_filter",
        "Y[h,w] = I[h+r-2,w+s-2]*g[r]*g[s]",
        """
        J = np.pad(I, 2)
        J = sum(g[r] * J[r : r + len(I)] for r in range(5))
        sum(g[s] * J[:, s : s + I.shape[1]] for s in range(5))
        """,
        I=real("h", "w"),
        g=real(5),
        Y=result("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "Gaussian blur, with its weights written out",
        GONZALEZ + "3.5",
        """
        # the weights are not normalised
        Y[h,w] = sum[r,s](I[h+r-2,w+s-2]*exp(-((r-2)^2 + (s-2)^2)/2)) where r in 0:5, s in 0:5
        """,
        """
        g = np.exp(-((np.arange(5) - 2) ** 2) / 2).astype(I.dtype)
        J = np.pad(I, 2)
        J = sum(g[r] * J[r : r + len(I)] for r in range(5))
        sum(g[s] * J[:, s : s + I.shape[1]] for s in range(5))
        """,
        I=real("h", "w"),
        Y=result("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "Sobel gradient, its magnitude",
        "SciPy documentation, scipy.ndimage.sobel",
        """
        X[h,w] = I[h,w+2] - I[h,w] + 2*(I[h+1,w+2] - I[h+1,w]) + I[h+2,w+2] - I[h+2,w]
            where h in 0:H-2, w in 0:W-2
        Y[h,w] = I[h+2,w] - I[h,w] + 2*(I[h+2,w+1] - I[h,w+1]) + I[h+2,w+2] - I[h,w+2]
            where h in 0:H-2, w in 0:W-2
        G[h,w] = hypot(X[h,w], Y[h,w])
        """,
        """
        x = I[:, 2:] - I[:, :-2]
        y = I[2:] - I[:-2]
        np.hypot(x[:-2] + 2 * x[1:-1] + x[2:], y[:, :-2] + 2 * y[:, 1:-1] + y[:, 2:])
        """,
        I=real("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="H W",
    ),
    written(
        "gradient's direction",
        GONZALEZ + "10.2",
        "D[h,w] = atan2(Y[h,w], X[h,w])*180/pi",
        "np.arctan2(Y, X) * 180 / np.pi",
        Y=real("h", "w"),
        X=real("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "Laplacian sharpening",
        GONZALEZ + "3.6",
        """
        L[h,w] = I[h-1,w] + I[h+1,w] + I[h,w-1] + I[h,w+1] - 4*I[h,w]
            where h in 0:H, w in 0:W
        Y[h,w] = I[h,w] - 0.2*L[h,w]
        """,
        """
        P = np.pad(I, 1)
        I - 0.2 * (P[:-2, 1:-1] + P[2:, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:] - 4 * I)
        """,
        I=real("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="H W",
    ),
    written(
        "threshold at the mean",
        "OpenCV documentation, threshold, THRESH_BINARY",
        "B[h,w] = where(I[h,w] > mean[i,j](I[i,j]), 255, 0)",
        "np.where(I > I.mean(), 255, 0)",
        I=unit("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "binary dilation",
        "SciPy documentation, scipy.ndimage.binary_dilation",
        "Y[h,w] = any[r,s](I[h+r-1,w+s-1] > 0) where h in 0:H, w in 0:W, r in 0:3, s in 0:3",
        "np.lib.stride_tricks.sliding_window_view(np.pad(I, 1) > 0, (3, 3)).any(axis=(2, 3))",
        I=real("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="H W",
    ),
    written(
        "grey erosion",
        "SciPy documentation, scipy.ndimage.grey_erosion",
        """
        Y[h,w] = min[r,s](I{fill=inf}[h+r-1,w+s-1])
            where h in 0:H, w in 0:W, r in 0:3, s in 0:3
        """,
        """
        P = np.pad(I, 1, constant_values=np.inf)
        np.lib.stride_tricks.sliding_window_view(P, (3, 3)).min(axis=(2, 3))
        """,
        I=real("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="H W",
    ),
    written(
        "histogram of grey levels",
        GONZALEZ + "3.3",
        "H[I[h,w]] += 1",
        "np.bincount(I.reshape(-1), minlength=16)",
        I=index("h", "w", below=16),
        H=result(16),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "look-up table",
        "OpenCV documentation, LUT",
        "Y[h,w,c] = T[I[h,w],c]",
        "T[I]",
        T=real(16, 3),
        I=index("h", "w", below=16),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "alpha blending",
        "T. Porter and T. Duff, Compositing Digital Images, SIGGRAPH 1984",
        "Y[h,w,c] = a[h,w]*F[h,w,c] + (1 - a[h,w])*B[h,w,c]",
        "a[..., None] * F + (1 - a[..., None]) * B",
        a=unit("h", "w"),
        F=unit("h", "w", 3),
        B=unit("h", "w", 3),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "halved by means of four",
        "scikit-image documentation, transform.downscale_local_mean",
        "Y[h,w] = mean[r,s](I[2*h+r,2*w+s]) where h in 0:H, w in 0:W, r in 0:2, s in 0:2",
        "I.reshape(len(I) // 2, 2, -1, 2).mean(axis=(1, 3))",
        I=real("2*H", "2*W"),
        H=(3, 256),
        W=(4, 320),
        given="H W",
    ),
    written(
        "integral image",
        "P. Viola and M. Jones, CVPR 2001",
        "S[h,w] = sum[i,j](where(i <= h and j <= w, I[i,j], 0)) where h in 0:H, w in 0:W",
        "I.cumsum(axis=0).cumsum(axis=1)",
        I=real("H", "W"),
        H=(4, 48),
        W=(5, 64),
        given="H W",
    ),
    written(
        "mean squared error and peak signal-to-noise ratio",
        "scikit-image documentation, metrics.peak_signal_noise_ratio",
        """
        E = mean[h,w]((I[h,w] - J[h,w])^2)
        P = 10*log10(1/E)
        """,
        "10 * np.log10(1 / ((I - J) ** 2).mean())",
        I=unit("h", "w"),
        J=unit("h", "w"),
        h=HEIGHT,
        w=WIDTH,
    ),
    written(
        "centre of mass",
        "SciPy documentation, scipy.ndimage.center_of_mass",
        """
        m = sum[h,w](I[h,w])
        y = sum[h,w](h*I[h,w])/m
        x = sum[h,w](w*I[h,w])/m
        """,
        """
        m = I.sum()
        (np.arange(len(I)) @ I.sum(axis=1)) / m, (np.arange(I.shape[1]) @ I.sum(axis=0)) / m
        """,
        I=unit("H", "W"),
        H=HEIGHT,
        W=WIDTH,
    ),
    written(
        "vignette",
        GONZALEZ + "2.3",
        "Y[h,w] = I[h,w]*exp(-((h - H/2)^2 + (w - W/2)^2)/(H*W))",
        """
        h, w = np.ogrid[: I.shape[0], : I.shape[1]]
        H, W = I.shape
        I * np.exp(-((h - H / 2) ** 2 + (w - W / 2) ** 2) / (H * W)).astype(I.dtype)
        """,
        I=unit("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="H W",
    ),
    written(
        "normalised batch of images",
        "torchvision documentation, transforms.Normalize",
        "Y[...,c,h,w] = (I[...,c,h,w] - m[c])/s[c]",
        "(I - m[:, None, None]) / s[:, None, None]",
        I=unit("b", 3, "h", "w"),
        m=unit(3),
        s=unit(3),
        b=(2, 4),
        h=(4, 224),
        w=(5, 224),
    ),
    written(
        "median of three labels, by sorting's network",
        "A. Paeth, Median Finding on a 3x3 Grid, Graphics Gems",
        """
        Y[h,w] = max(min(I[h,w], I[h,w+1]), min(max(I[h,w], I[h,w+1]), I[h,w+2]))
            where w in 0:W-2
        """,
        "np.median(np.lib.stride_tricks.sliding_window_view(I, 3, axis=1), axis=2)",
        I=whole("H", "W"),
        H=HEIGHT,
        W=WIDTH,
        given="W",
    ),
)
