"""Chains of max, min, clip, relu and leaky_relu.

ONNX: the operators' definitions.  DL: Goodfellow, Bengio, Courville, Deep Learning, 6.3.
LATTICE: Davey and Priestley, Introduction to Lattices and Order, chapter 2.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    equal("relu(relu(x))", "relu(x)", "DL 6.3.1"),
    unequal("relu(-relu(x))", "relu(x)", "DL 6.3.1"),
    equal("clip(clip(x,0,6),0,6)", "clip(x,0,6)", "ONNX Clip"),
    unequal("clip(clip(x,0,6),1,6)", "clip(x,0,6)", "ONNX Clip"),
    equal("clip(clip(x,-1,4),0,2)", "clip(x,0,2)", "ONNX Clip"),
    unequal("clip(clip(x,0,2),-1,4)", "clip(x,-1,4)", "ONNX Clip"),
    known("clip(x,0,6)", "relu(x)-relu(x-6)", "relu(x)-relu(6-x)", "DL 6.3.1"),
    equal("clip(-x,-1,1)", "-clip(x,-1,1)", "ONNX Clip"),
    unequal("clip(-x,-1,2)", "-clip(x,-1,2)", "ONNX Clip, bounds that are not symmetric"),
    known("leaky_relu(x,0.1)", "max(x,0.1*x)", "min(x,0.1*x)", "DL 6.3.1"),
    known("leaky_relu(x,0.2)", "0.6*x+0.4*abs(x)", "0.4*x+0.6*abs(x)", "DL 6.3.1"),
    known(
        "leaky_relu(leaky_relu(x,0.5),0.5)",
        "leaky_relu(x,0.25)",
        "leaky_relu(x,0.5)",
        "ONNX LeakyRelu",
    ),
    known("relu(clip(x,-1,2))", "clip(x,0,2)", "clip(x,-1,2)", "ONNX Clip"),
    equal("max(a,max(a,b))", "max(a,b)", "LATTICE, idempotence"),
    unequal("max(a,min(a,b))", "max(a,b)", "LATTICE, absorption"),
    known("min(max(a,b),max(a,-b))", "max(a,-abs(b))", "max(a,abs(b))", "LATTICE, distributivity"),
    equal("abs(clip(x,-1,1))", "min(abs(x),1)", "ONNX Clip"),
    unequal("abs(clip(x,-1,2))", "min(abs(x),1)", "ONNX Clip"),
)
