# SPDX-License-Identifier: MIT
# benchmarks/nereid_c.py: nereid/c.h through ctypes, and plans for torch tensors on a CUDA device.
import ctypes

CUDA = 1
# Must match nereid_dtype of include/nereid/c.h.
DTYPES = {"float64": 1, "float32": 2, "float16": 3, "bfloat16": 4, "float8_e4m3fn": 5,
          "float8_e5m2": 6, "int8": 9, "uint8": 10, "int32": 11}


class Tensor(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("device", ctypes.c_int32),
                ("device_index", ctypes.c_int32)]


class Operand(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.POINTER(Tensor))]


class Attribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("word", ctypes.c_char_p), ("number", ctypes.c_double)]


class Call(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("threads", ctypes.c_int32),
                ("op", ctypes.c_char_p), ("operands", ctypes.POINTER(Operand)),
                ("attributes", ctypes.POINTER(Attribute)), ("operand_count", ctypes.c_int32),
                ("attribute_count", ctypes.c_int32), ("backend", ctypes.c_char_p),
                ("names", ctypes.c_void_p), ("stream", ctypes.c_void_p)]


class PlanInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("threads", ctypes.c_int32)] + [
        (name, ctypes.c_char_p) for name in ("backend", "kernel", "isa", "note", "fallback", "text")]


class Error(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("status", ctypes.c_int32)] + [
        (name, ctypes.c_char_p) for name in ("op", "argument", "got", "allowed", "hint", "message")]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.nereid_last_error.restype = ctypes.POINTER(Error)
        self.lib.nereid_plan_workspace.restype = ctypes.c_size_t
        self.lib.nereid_plan_workspace.argtypes = [ctypes.c_void_p]
        self.run_on = self.lib.nereid_plan_run_on
        self.run_on.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p,
                                ctypes.c_size_t, ctypes.c_void_p]

    def fail(self):
        raise RuntimeError(self.lib.nereid_last_error().contents.message.decode())

    def plan(self, op, operands, attributes):
        """A Plan for tensors of these shapes; `operands` maps names to torch tensors."""
        return Plan(self, op, operands, attributes)


class Plan:
    """Prepared once for one set of shapes, run on any tensors that have them."""

    def __init__(self, library, op, operands, attributes):
        self.library = library
        self.names = [name.encode() for name in operands]
        tensors = [describe(value) for value in operands.values()]
        listed = (Operand * len(tensors))(
            *[Operand(n, ctypes.pointer(t)) for n, t in zip(self.names, tensors)])
        options = (Attribute * max(1, len(attributes)))(
            *[Attribute(k.encode(), v.encode() if isinstance(v, str) else None,
                        0.0 if isinstance(v, str) else float(v)) for k, v in attributes.items()])
        call = Call(ctypes.sizeof(Call), 0, op.encode(), listed, options, len(tensors),
                    len(attributes), None, None, None)
        self.plan = ctypes.c_void_p()
        if library.lib.nereid_prepare(None, ctypes.byref(call), ctypes.byref(self.plan)) != 0:
            library.fail()
        self.bytes = library.lib.nereid_plan_workspace(self.plan)
        self.workspace = None

    def describe(self):
        info = PlanInfo(struct_size=ctypes.sizeof(PlanInfo))
        if self.library.lib.nereid_describe_plan(self.plan, ctypes.byref(info)) != 0:
            self.library.fail()
        return {name: getattr(info, name).decode() for name in ("backend", "kernel", "isa", "note")}

    def bind(self, operands):
        """A call without arguments for these tensors, in PyTorch's current stream."""
        import torch
        values = list(operands.values())
        pointers = (ctypes.c_void_p * len(values))(*[v.data_ptr() for v in values])
        if self.bytes and self.workspace is None:
            self.workspace = torch.empty(self.bytes + 256, dtype=torch.uint8, device=values[0].device)
        workspace = (self.workspace.data_ptr() + 255) // 256 * 256 if self.bytes else None
        run_on, plan, count, size = self.library.run_on, self.plan, len(values), self.bytes

        def run(_keep=(values, self.workspace)):
            stream = torch.cuda.current_stream().cuda_stream
            if run_on(plan, pointers, count, workspace, size, stream) != 0:
                self.library.fail()
        return run


def describe(value):
    sizes = (ctypes.c_int64 * max(1, value.dim()))(*value.shape)
    strides = (ctypes.c_int64 * max(1, value.dim()))(*value.stride())
    dtype = DTYPES[str(value.dtype).removeprefix("torch.")]
    return Tensor(ctypes.sizeof(Tensor), 0, value.data_ptr(), dtype, value.dim(), sizes, strides,
                  CUDA, value.device.index or 0)
