"""Chains of max, min, clip, relu and leaky_relu.

ONNX: the operators' definitions.  DL: Goodfellow, Bengio, Courville, Deep Learning, 6.3.
LATTICE: Davey and Priestley, Introduction to Lattices and Order, chapter 2.
"""

from einderive.frontend.identities.entry import Pair

EQUAL = (
    Pair("relu(relu(x))", "relu(x)", "DL 6.3.1"),
    Pair("clip(clip(x,0,6),0,6)", "clip(x,0,6)", "ONNX Clip"),
    Pair("clip(clip(x,-1,4),0,2)", "clip(x,0,2)", "ONNX Clip"),
    Pair("clip(x,0,6)", "relu(x)-relu(x-6)", "DL 6.3.1"),
    Pair("clip(-x,-1,1)", "-clip(x,-1,1)", "ONNX Clip"),
    Pair("leaky_relu(x,0.1)", "max(x,0.1*x)", "DL 6.3.1"),
    Pair("leaky_relu(x,0.2)", "0.6*x+0.4*abs(x)", "DL 6.3.1"),
    Pair("leaky_relu(leaky_relu(x,0.5),0.5)", "leaky_relu(x,0.25)", "ONNX LeakyRelu"),
    Pair("relu(clip(x,-1,2))", "clip(x,0,2)", "ONNX Clip"),
    Pair("max(a,max(a,b))", "max(a,b)", "LATTICE, idempotence"),
    Pair("min(max(a,b),max(a,-b))", "max(a,-abs(b))", "LATTICE, distributivity"),
    Pair("abs(clip(x,-1,1))", "min(abs(x),1)", "ONNX Clip"),
)
UNEQUAL = (
    Pair("relu(-relu(x))", "relu(x)", "DL 6.3.1"),
    Pair("clip(clip(x,0,6),1,6)", "clip(x,0,6)", "ONNX Clip"),
    Pair("clip(clip(x,0,2),-1,4)", "clip(x,-1,4)", "ONNX Clip"),
    Pair("clip(x,0,6)", "relu(x)-relu(6-x)", "DL 6.3.1"),
    Pair("clip(-x,-1,2)", "-clip(x,-1,2)", "ONNX Clip, bounds that are not symmetric"),
    Pair("leaky_relu(x,0.1)", "min(x,0.1*x)", "DL 6.3.1"),
    Pair("leaky_relu(x,0.2)", "0.4*x+0.6*abs(x)", "DL 6.3.1"),
    Pair("leaky_relu(leaky_relu(x,0.5),0.5)", "leaky_relu(x,0.5)", "ONNX LeakyRelu"),
    Pair("relu(clip(x,-1,2))", "clip(x,-1,2)", "ONNX Clip"),
    Pair("max(a,min(a,b))", "max(a,b)", "LATTICE, absorption"),
    Pair("min(max(a,b),max(a,-b))", "max(a,abs(b))", "LATTICE, distributivity"),
    Pair("abs(clip(x,-1,2))", "min(abs(x),1)", "ONNX Clip"),
)
