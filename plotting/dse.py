"""dse in Python: machines, mappings and searches, in this process, through libdse.so.

    import dse
    layer = dse.machine("simba", {"DRAM.bandwidth": "10 GB/s"}).layer("resnet50", "conv1")
    found = layer.map(engine="cosa")                  # a search; Ctrl-C ends it
    print(found.edp_js, found.nest())
    rows = layer.draw(1000, seed=1)                   # mappings at random, as an array of numbers
    print(layer.price(rows).min())                    # what each costs; a loop of your own goes here
    dse.machine("soma_edge").schedule("resnet50_soma", engine="soma")
    table = dse.sweep("first.yaml")                   # runs the program; a DataFrame

Needs the standard library only; with numpy mappings are arrays, with pandas tables are DataFrames. The pages: docs/python.md.
What is wrong raises dse.Error with the sentence that the program would print. Any number of threads may use one object.

The library is looked for as DSE_LIBRARY says, else beside this file, in the build folder of the source tree, in the installation that this
file belongs to, and where the system has its libraries.
"""
import _thread
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from array import array

numpy = pandas = None
with contextlib.suppress(ImportError):
    import numpy
with contextlib.suppress(ImportError):
    import pandas
__all__ = ["Cancelled", "Error", "Flag", "Found", "Layer", "Machine", "Network", "Result", "machine", "metrics", "network", "sweep", "version"]

_TEXT, _CANCELLED = 2048, 6  # DSE_TEXT_MAX and DSE_CODE_CANCELLED of dse.h
_HERE = os.path.dirname(os.path.abspath(__file__))


class Error(Exception):
    """Something is wrong; str() is the sentence, `code` the number of enum dse_code in dse.h."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


class Cancelled(Error):
    """A search was ended by its flag."""


class Flag:
    """For cancel=: set() from another thread ends the searches that have it."""

    def __init__(self):
        self._value = ctypes.c_int(0)

    def set(self):
        self._value.value = 1


# ---- the library: the structs and functions of dse.h

_P, _S, _SIZE, _INT, _U32, _U64, _F64 = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64,
                                         ctypes.c_double)
_TEXTS, _U32S, _U64S = map(ctypes.POINTER, (_S, _U32, _U64))


def _struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": [(field, kind) for kind, fields in zip(fields[::2], fields[1::2]) for field in fields.split()]})


_Shape = _struct("_Shape", _S, "name accounting", _U32, "n_dim", _TEXTS, "dim", _U32S, "bound", _U32, "n_tensor", _TEXTS, "tensor",
                 _U32, "n_level", _TEXTS, "level", _U64S, "fanout_x fanout_y", _U32S, "keeps", _U32, "width")
_Field = _struct("_Field", _S, "name unit", _F64, "number", _S, "text", _INT, "is_text")
_LayerOptions = _struct("_LayerOptions", _U32, "batch", _S, "accounting", _TEXTS, "pad", _SIZE, "n_pad")
_Search = _struct("_Search", _S, "engine objective accounting bound measure constraints", _TEXTS, "option", _SIZE, "n_option",
                  _U64, "seed max_evaluations", _F64, "max_seconds", _U32, "batch n_thread", ctypes.POINTER(_INT), "cancel")

_KINDS = {"p": _P, "s": _S, "z": _SIZE, "u": _U64, "i": _INT, "v": None}
# Each with its result and its arguments; E: an int, and error and its size as the last arguments. dse_evaluate is called with ctypes' own
# objects: to check them would take as long as a price.
_FUNCTIONS = """version:s metric:szppp machine_open:Espzp machine_free:vp network_open:Espzp network_parse:Eszp network_layer:spzppp
    network_free:vp layer_open:Eppspp layer_shape:pp layer_free:vp scratch_new:Epp scratch_free:vp explain:Eppzpz mapping_read:Epszpz
    mapping_write:Eppzspzp draw:Epzuippzp bounds:Epp map:Eppspp result_count:zp result_field:ipzzp result_mapping:Epzpz result_free:vp"""


def _load():
    asked = os.environ.get("DSE_LIBRARY")
    known = (("libdse.so",), ("..", "build", "libdse.so"), ("..", "..", "..", "lib", "libdse.so"))
    places = [asked] if asked else [os.path.join(_HERE, *where) for where in known]
    there = [place for place in places if os.path.exists(place)]
    path = os.path.abspath(there[0]) if there else asked or "libdse.so.0"
    try:
        library = ctypes.CDLL(path)
        for name, kinds in (each.split(":") for each in _FUNCTIONS.split()):
            function = getattr(library, f"dse_{name}")
            function.restype = _INT if kinds[0] == "E" else _KINDS[kinds[0]]
            function.argtypes = [_KINDS[kind] for kind in kinds[1:] + ("pz" if kinds[0] == "E" else "")]
    except (OSError, AttributeError) as problem:
        raise ImportError(f"libdse.so cannot be loaded ({problem}); it was looked for in: {', '.join(places)}. `make` builds it; the "
                          "variable DSE_LIBRARY says where it is") from None
    return library, path


_lib, _path = _load()


def _call(name, *arguments):
    """Call a function that may fail; its error is raised."""
    error = ctypes.create_string_buffer(_TEXT)
    code = getattr(_lib, name)(*arguments, error, _TEXT)
    if code:
        raise _error(code, error)


def _error(code, error):
    return (Cancelled if code == _CANCELLED else Error)(error.value.decode("utf-8", "replace"), code)


def _bytes(text):
    """A name or a path for C; None stays None."""
    if text is None:
        return None
    data = os.fsencode(text) if isinstance(text, (str, bytes, os.PathLike)) else str(text).encode()
    if b"\0" in data:
        raise Error("a text has a byte 0 in it")
    return data


def _text(data):
    return data.decode("utf-8", "replace") if data is not None else None


def _pairs(values):
    """{"DRAM.bandwidth": "10 GB/s"} as an array of texts, and how many pairs it has."""
    flat = []
    for key, value in dict(values or {}).items():
        flat += [_bytes(key), _bytes({True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value)]
    return (_S * len(flat))(*flat) if flat else None, len(flat) // 2


def _whole(bits, **values):
    for name, value in values.items():
        if not hasattr(value, "__index__") or not 0 <= value < 1 << bits:
            raise Error(f"{name}={value!r}: a whole number from 0 to 2^{bits} - 1 is expected")


class _Handle:
    """Something open in the library, freed with this object."""

    def __init__(self, free, opener, *arguments):
        pointer = _P()
        _call(opener, *arguments, ctypes.byref(pointer))
        self.pointer, self._free = pointer, getattr(_lib, free)

    def __del__(self):
        if getattr(self, "pointer", None):
            self._free(self.pointer)
            self.pointer = None


def version():
    """The version of the library."""
    return _text(_lib.dse_version())


def metrics():
    """What is known of a mapping: {name: (unit, sentence, better)}, better -1 where less is better, 1 where more is, else 0."""
    found, unit, sentence, better = {}, _S(), _S(), ctypes.c_int()
    while (name := _lib.dse_metric(len(found), ctypes.byref(unit), ctypes.byref(sentence), ctypes.byref(better))) is not None:
        found[_text(name)] = (_text(unit.value), _text(sentence.value), better.value)
    return found


_METRICS = {name: i for i, name in enumerate(metrics())}


# ---- machines and networks

class Machine:
    """dse.machine(name, set): the machine of that name (`dse list architectures`) or file; `set`: {"DRAM.bandwidth": "10 GB/s"}, paths as axes of
    sweeps have them; of a Timeloop file also {"ert": FILE, "art": FILE}."""

    def __init__(self, name, set=None):
        self.name, self.set = os.fspath(name), dict(set or {})
        self._handle = _Handle("dse_machine_free", "dse_machine_open", _bytes(name), *_pairs(set))

    def __repr__(self):
        return f"dse.machine({self.name!r}{', ' + repr(self.set) if self.set else ''})"

    def layer(self, network, layer=None, **options):
        """One layer of a network (a name, a path, a dse.network, or the sizes of a problem, {"type": "conv", "C": 64, "K": 64, "P": 56, "Q": 56,
        "R": 3, "S": 3}) on this machine. `layer`: its name, one of network.layers, or None: the only one. Options: batch, accounting, pad."""
        return Layer(self, _as(Network, network), layer, **options)

    def map(self, network, engine="descent", **search):
        """Search a mapping for every layer of a network. Options as of Layer.map. Returns a Result: layers and their total."""
        return Result(self, _as(Network, network), None, engine=engine, **search)

    def schedule(self, network, engine="soma", **search):
        """Search a fused schedule of the whole network by an engine that is a scheduler (`dse list engines`). Options as of Layer.map. Returns
        what was found; its `text` is the schedule as `dse eval` reads it."""
        return Result(self, _as(Network, network), None, engine=engine, **search).layers[0]


def _as(kind, thing):
    return thing if isinstance(thing, kind) else kind(thing)


def _flow(value):
    """A value as YAML's flow style has it: sizes are numbers, words and lists of these."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value) if isinstance(value, int) else '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Network:
    """dse.network(name, set): the network of that name (`dse list networks`) or file (native, ONNX, Timeloop); `set`: its parameters,
    {"sequence": 128}. layers: [{"name": ..., "type": ..., "count": ..., "mac": ...}], mac for the batch of its file, else 1."""

    def __init__(self, name, set=None):
        if isinstance(name, dict):  # a problem by its sizes
            self.name, self.set = name.get("name", "problem"), {}
            text = _flow({"network": self.name, "kind": "layers", "layers": [{"name": self.name, **name}]}).encode()
            self._handle = _Handle("dse_network_free", "dse_network_parse", text, len(text))
        else:
            self.name, self.set = os.fspath(name), dict(set or {})
            self._handle = _Handle("dse_network_free", "dse_network_open", _bytes(name), *_pairs(set))

    @property
    def layers(self):
        found, kind, count, mac = [], _S(), ctypes.c_uint64(), ctypes.c_uint64()
        while (name := _lib.dse_network_layer(self._handle.pointer, len(found), ctypes.byref(kind), ctypes.byref(count),
                                              ctypes.byref(mac))) is not None:
            found.append({"name": _text(name), "type": _text(kind.value), "count": count.value, "mac": mac.value})
        return found

    def schedule(self, machine, engine="soma", **search):
        """Machine.schedule."""
        return _as(Machine, machine).schedule(self, engine=engine, **search)

    def __repr__(self):
        n = len(self.layers)
        return f"dse.network({self.name!r}{', ' + repr(self.set) if self.set else ''})  # {n} layer{'s' if n != 1 else ''}"


machine, network = Machine, Network


# ---- a layer and its mappings

class Parts:
    """The numbers of mappings by what they are: views of the same memory, so that writing to one changes the mapping. All have the shape of the
    rows in front: temporal, spatial (factors), temporal_order, spatial_order: (..., level, dim); split, keep: (..., level). Levels and
    orders innermost first; docs/python.md says what they mean."""

    def __init__(self, rows, n_level, n_dim):
        level = rows.reshape(*rows.shape[:-1], n_level, 4 * n_dim + 6)
        self.temporal, self.spatial, self.temporal_order, self.spatial_order = (level[..., i * n_dim:(i + 1) * n_dim] for i in range(4))
        self.split, self.keep = level[..., 4 * n_dim], level[..., 4 * n_dim + 1]


_Thread = type("_Thread", (threading.local,), {"scratch": None})  # what evaluations of one thread need


class Layer:
    """One layer on one machine. Mappings of it are rows of `width` integers: an int32 array of numpy, where that is there, else an
    array.array. dims {name: bound}, tensors, levels (innermost first), fanout [(x, y)] below each level, keeps (bit t: tensor t may be kept)."""

    def __init__(self, machine, network, layer=None, batch=0, accounting=None, pad=None):
        _whole(32, batch=batch)
        self.machine, self.network, self.pad, self.batch, self._asked = machine, network, dict(pad or {}), batch, accounting
        pairs, n_pair = _pairs(pad)
        options = _LayerOptions(batch, _bytes(accounting), pairs, n_pair)
        self._handle = _Handle("dse_layer_free", "dse_layer_open", machine._handle.pointer, network._handle.pointer,
                               _bytes(layer["name"] if isinstance(layer, dict) else layer), ctypes.byref(options))
        shape = ctypes.cast(_lib.dse_layer_shape(self._handle.pointer), ctypes.POINTER(_Shape)).contents
        self.name, self.accounting, self.width = _text(shape.name), _text(shape.accounting), shape.width
        self.dims = {_text(shape.dim[d]): shape.bound[d] for d in range(shape.n_dim)}
        self.tensors = [_text(shape.tensor[t]) for t in range(shape.n_tensor)]
        self.levels = [_text(shape.level[v]) for v in range(shape.n_level)]
        self.fanout = [(shape.fanout_x[v], shape.fanout_y[v]) for v in range(shape.n_level)]
        self.keeps = [shape.keeps[v] for v in range(shape.n_level)]
        self._n_byte, self._thread, self._columns = 4 * self.width, _Thread(), {}
        self._width, self._one = _SIZE(self.width), _SIZE(1)

    def __repr__(self):
        sizes = " ".join(f"{name}={bound}" for name, bound in self.dims.items())
        return f"<dse.Layer {self.name} of {self.network.name} on {self.machine.name}: {sizes}>"

    def _rows(self, mappings):
        """Rows as memory of int32 and how many there are; a text or one row: None."""
        if isinstance(mappings, (str, bytes)):
            return self.read(mappings), None
        if numpy is not None:
            try:
                given = numpy.asarray(mappings)
            except ValueError as problem:  # rows of different lengths
                raise Error(f"mappings of {self.name} are rows of {self.width} integers: {problem}") from None
            rows = numpy.require(given, dtype=numpy.int32, requirements=["C", "W"]) if given.dtype.kind in "iu" else None
            if rows is None or rows.ndim not in (1, 2) or rows.shape[-1] != self.width:
                raise Error(f"mappings of {self.name} are rows of {self.width} integers; this is an array {given.shape} of {given.dtype}")
            if rows.dtype != given.dtype and not numpy.array_equal(rows, given):
                raise Error("an integer of a mapping is too large")
            return rows, None if rows.ndim == 1 else len(rows)
        try:
            rows = list(mappings)
            one = bool(rows) and isinstance(rows[0], int)
            flat = array("i", rows if one else [value for row in rows for value in row])
        except (TypeError, OverflowError) as problem:
            raise Error(f"mappings of {self.name} are rows of {self.width} integers: {problem}") from None
        n = 1 if one else len(rows)
        if len(flat) != n * self.width or any(len(row) != self.width for row in ([] if one else rows)):
            raise Error(f"mappings of {self.name} are rows of {self.width} integers")
        return flat, None if one else n

    def _empty(self, n):
        return numpy.zeros((n, self.width), numpy.int32) if numpy is not None else array("i", bytes(4 * n * self.width))

    def _row(self, mapping):
        rows, n = self._rows(mapping)
        if n is not None:
            raise Error("one mapping is expected, not several")
        return rows

    def parts(self, rows):
        """Their numbers by what they are: parts(rows).temporal[..., level, dim]. Needs numpy."""
        return Parts(rows, len(self.levels), len(self.dims))

    def read(self, text):
        """The text of a mapping, as `dse map --format yaml` prints it, as a row."""
        data, row = text if isinstance(text, bytes) else text.encode(), self._empty(1)
        _call("dse_mapping_read", self._handle.pointer, data, len(data), _address(row), self.width)
        return row[0] if numpy is not None else row

    def write(self, mapping, form="yaml"):
        """A mapping as text: form yaml, line (the same in one line), nest (loops for people), gpu or halide."""
        row, length, text = self._row(mapping), _SIZE(), ctypes.create_string_buffer(1 << 16)
        for _ in range(2):
            _call("dse_mapping_write", self._handle.pointer, _address(row), self.width, _bytes(form), text, len(text), ctypes.byref(length))
            if length.value < len(text):
                break
            text = ctypes.create_string_buffer(length.value + 1)
        return _text(text.value)

    def explain(self, mapping):
        """Why a mapping does not fit, in a sentence; "" when it does."""
        row, reason = self._row(mapping), ctypes.create_string_buffer(_TEXT)
        _call("dse_explain", self._handle.pointer, _address(row), self.width, reason, _TEXT)
        return _text(reason.value)

    def draw(self, n, seed=0, search_bypass=False, cancel=None):
        """n valid mappings at random, (n, width): those of `dse sample -n N -s SEED`. Fewer where valid ones are very rare."""
        _whole(30, n=n)
        _whole(64, seed=seed)
        rows, n_drawn = self._empty(n), _SIZE()
        _run(lambda flag: _call("dse_draw", self._handle.pointer, n, seed, bool(search_bypass), ctypes.byref(flag), _address(rows),
                                self.width, ctypes.byref(n_drawn)), cancel)
        if numpy is not None:
            return rows[:n_drawn.value]
        return [rows[i * self.width:(i + 1) * self.width] for i in range(n_drawn.value)]

    def _scratch(self):
        """This thread's: scratch and place for an error."""
        thread = self._thread
        thread.scratch = _Handle("dse_scratch_free", "dse_scratch_new", self._handle.pointer)
        thread.error = ctypes.create_string_buffer(_TEXT)
        thread.value = (ctypes.c_double * len(_METRICS))()
        thread.arguments = self._handle.pointer, thread.scratch.pointer
        return thread

    def _choose(self, metric):
        """The columns of a metric's name or of several: their numbers, and how many."""
        names = (metric,) if isinstance(metric, str) else tuple(metric)
        unknown = [name for name in names if name not in _METRICS]
        if unknown:
            raise Error(f"there is no metric {unknown[0]!r}; there are {', '.join(_METRICS)}")
        which = (ctypes.c_uint32 * len(names))(*(_METRICS[name] for name in names))
        self._columns[metric if isinstance(metric, str) else names] = chosen = which, _SIZE(len(names))
        return chosen

    def price(self, mappings, metric="edp_js"):
        """What mappings cost, for loops of your own: a number for one row, an array (n) for rows (n, width); with several metrics, ("latency_s",
        "energy_j"), a tuple or an array (n, m). NaN where a mapping does not fit (explain says why). Microseconds for one, less in an array."""
        thread = self._thread if self._thread.scratch is not None else self._scratch()
        which, m = self._columns.get(metric) or self._choose(metric) if isinstance(metric, (str, tuple)) else self._choose(metric)
        try:  # one row of an array as it comes
            if mappings.nbytes != self._n_byte or mappings.dtype != _INT32 or mappings.ndim != 1:
                raise TypeError
            place, n, value = _byref(_int32_of(mappings)), None, thread.value
        except (AttributeError, TypeError, ValueError, BufferError):
            mappings, n = self._rows(mappings)
            place = _P(_address(mappings))
            value = thread.value if n is None else (ctypes.c_double * (n * m.value))() if numpy is None else numpy.empty((n, m.value))
        code = _evaluate(*thread.arguments, self._one if n is None else _SIZE(n), place, self._width, which, m,
                         value if numpy is None or n is None else _P(_address(value)), None, thread.error, _SIZE_TEXT)
        if code:
            raise _error(code, thread.error)
        one = isinstance(metric, str)
        if n is None:
            return value[0] if one else tuple(value[:m.value])
        if numpy is not None:
            return value[:, 0] if one else value
        return list(value) if one else [tuple(value[i * m.value:(i + 1) * m.value]) for i in range(n)]

    def evaluate(self, mappings):
        """All metrics of mappings. One (a row, or a text as `dse eval` reads it): a dict; Error with the reason when it does not fit. Several
        rows: a DataFrame, NaN where one does not fit; without pandas a list of dicts."""
        (rows, n), names = self._rows(mappings), tuple(_METRICS)
        values = self.price(rows if n is None or numpy is not None else list(mappings), names)
        if n is None:
            reason = self.explain(rows) if values[0] != values[0] else ""
            if reason:
                raise Error(f"the mapping does not fit: {reason}", 1)
            return dict(zip(names, values))
        return pandas.DataFrame(values, columns=names) if pandas is not None else [dict(zip(names, map(float, row))) for row in values]

    def bounds(self):
        """What no mapping can be below: {"latency_s", "energy_j", "edp_js"}; 0 where nothing is known. A search proves more (bound_edp_ratio)."""
        value = (ctypes.c_double * 3)()
        _call("dse_bounds", self._handle.pointer, value)
        return dict(zip(("latency_s", "energy_j", "edp_js"), value))

    def map(self, engine="descent", **search):
        """Search a mapping as `dse map` does; Ctrl-C ends it. Options: objective ("edp", "latency", "energy", "energy^2*delay^1", "pareto"),
        options (of the engine, {"samples": 100}), seed, max_evaluations, max_seconds, accounting, bound ("quick", "strong"), measure
        ("noc"), constraints (a file), threads, cancel (a dse.Flag). Returns what was found; with pareto `front` has all points."""
        if self.pad:
            raise Error("a padded layer is for evaluating: map the layer itself")
        search = {"accounting": self._asked, **search}
        rows = Result(self.machine, self.network, self.name, engine=engine, batch=self.batch, of=self, **search).layers
        best = min(rows, key=lambda found: found.edp_js if found.status == "ok" else 0)
        best.front = rows if search.get("objective") == "pareto" else []
        return best


def _address(memory):
    return memory.ctypes.data if numpy is not None and isinstance(memory, numpy.ndarray) else memory.buffer_info()[0]


_INT32 = numpy.dtype(numpy.int32) if numpy is not None else None
_SIZE_TEXT, _byref, _int32_of, _evaluate = _SIZE(_TEXT), ctypes.byref, ctypes.c_int32.from_buffer, _lib.dse_evaluate


# ---- searches

def _run(work, cancel=None):
    """Do work(flag) in a thread, so that Ctrl-C arrives here, sets the flag and is raised once the search has ended. The handler raises nothing, as
    Python loses an exception that comes while it removes an object or is in a lock of threading's. Other handlers' are raised at once."""
    flag, problem, interrupts, ended = (cancel or Flag())._value, [], [], _thread.allocate_lock()
    old = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT)

    def target():
        try:
            work(flag)
        except BaseException as error:  # handed to the caller, who needs none where he has interrupted
            if not interrupts:
                problem.append(error)
        ended.release()

    def interrupt(number, _frame):
        flag.value = 1
        interrupts.append(number)

    ended.acquire()
    try:
        if old is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupt)
        _thread.start_new_thread(target, ())
        while not ended.acquire(timeout=0.1):  # without an end, a signal that another thread has got would be seen behind it only
            pass
    except BaseException:
        flag.value = 1
        raise
    finally:
        if old is signal.default_int_handler:
            signal.signal(signal.SIGINT, old)
    if interrupts or problem:
        raise problem.pop() if problem else KeyboardInterrupt


class Found:
    """What a search has found for one layer, or a schedule: every column of result files is an attribute (found.edp_js, found.stop,
    found.status; docs/results.md) and an item, found["DRAM.energy_j"]. mapping: the row, None where there is none; text: the mapping in one
    line, or the schedule."""

    def __init__(self, fields, units, mapping=None, layer=None):
        self.fields, self.units, self.mapping, self._layer, self.front = fields, units, mapping, layer, []

    def __getattr__(self, name):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"what was found has no column {name!r}; it has {', '.join(self.__dict__.get('fields', ()))}") from None

    def __getitem__(self, name):
        return self.fields[name]

    text = property(lambda self: self.fields.get("mapping"))

    @property
    def layer(self):
        """The layer that `mapping` is one of: with enlarged loop bounds, where the engine has padded it."""
        if self._layer is None or not self.fields.get("padded"):
            return self._layer
        pad = {part.split()[0]: part.split("->")[1] for part in self.fields["padded"].split(", ")}
        return Layer(self._layer.machine, self._layer.network, self._layer.name, self._layer.batch, self._layer.accounting, pad)

    def nest(self):
        """The mapping as a loop nest."""
        if self.mapping is None:
            raise Error(f"there is no mapping: {self.fields.get('reason') or self.status}")
        return self.layer.write(self.mapping, "nest")

    def __repr__(self):
        f = self.fields
        if f["status"] != "ok":
            return f"<{f['layer']}: {f['status']}, {f.get('reason')}>"
        ratio = f.get("bound_edp_ratio")
        return (f"<{f['layer']}: {f['latency_cycle']:,.0f} cycles, {f['energy_j'] * 1e6:.4g} uJ, edp {f['edp_js']:.4g} J s"
                f"{f', {ratio:.4g} times the bound' if ratio == ratio and ratio is not None else ''}; {f['stop']}>")


class Result:
    """What a search has found for a network: layers (a list of Found), and their total."""

    def __init__(self, machine, network, layer, engine, objective=None, options=None, seed=0, max_evaluations=0, max_seconds=0, accounting=None,
                 bound=None, measure=None, constraints=None, batch=0, threads=0, cancel=None, of=None):
        pairs, n_pair = _pairs(options)
        _whole(64, seed=seed, max_evaluations=max_evaluations)
        _whole(32, batch=batch, threads=threads)
        search = _Search(_bytes(engine), _bytes(objective), _bytes(accounting), _bytes(bound), _bytes(measure), _bytes(constraints), pairs, n_pair,
                         seed, max_evaluations, float(max_seconds), batch, threads)
        handle = []

        def work(flag):
            search.cancel = ctypes.pointer(flag)
            handle.append(_Handle("dse_result_free", "dse_map", machine._handle.pointer, network._handle.pointer, _bytes(layer),
                                  ctypes.byref(search)))

        _run(work, cancel)
        self.machine, self.network, self.engine = machine, network, engine
        self._pointer, self._batch, self._of = handle[0].pointer, batch, of
        n = _lib.dse_result_count(self._pointer)
        self.layers = [self._found(i) for i in range(n)]
        self.total = Found(*self._columns(n))
        del self._pointer  # and handle with it

    def _columns(self, i):
        fields, units, field = {}, {}, _Field()
        while _lib.dse_result_field(self._pointer, i, len(fields), ctypes.byref(field)):
            name = _text(field.name)
            fields[name] = _text(field.text) if field.is_text else field.number
            units[name] = _text(field.unit)
        return fields, units

    def _found(self, i):
        fields, units = self._columns(i)
        if fields["status"] != "ok" or fields["layer"] == "(network)":
            return Found(fields, units)
        layer = self._of or Layer(self.machine, self.network, fields["layer"], self._batch)
        row = layer._empty(1)
        _call("dse_result_mapping", self._pointer, i, _address(row), layer.width)
        return Found(fields, units, row[0] if numpy is not None else row, layer)

    def table(self):
        """A row per layer and the total, as a DataFrame."""
        if pandas is None:
            raise Error("a table needs pandas (Debian: python3-pandas)")
        return pandas.DataFrame([found.fields for found in self.layers + [self.total]]).set_index("layer")

    def __repr__(self):
        return "\n".join(map(repr, self.layers + [self.total]))


# ---- sweeps

def sweep(specification, output=None, set=None, jobs=None):
    """Run a sweep with the program (`dse run`), or go on with it, and return its points as a DataFrame (dse_results.tidy): one row each, with
    axes and metrics. `output`: OUT.h5, else named after the specification; `set`: {"axes.seed": "[0, 1]"}; `jobs`: threads. Ctrl-C ends it;
    the same call goes on. Points that fail are rows with their reason."""
    if _HERE not in sys.path:
        sys.path.append(_HERE)
    import dse_results
    out = os.fspath(output) if output is not None else os.path.splitext(os.path.basename(specification))[0] + ".h5"
    beside = [os.path.join(os.path.dirname(_path), *folders, "dse") for folders in ((), ("..", "bin"))]  # the library; else that of the path
    command = [next(filter(os.path.isfile, beside), "dse"), "run", os.fspath(specification), "-o", out] + (["-j", str(jobs)] if jobs else [])
    command += [word for key, value in (set or {}).items() for word in ("--set", f"{key}={value}")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            _, said = process.communicate()
        except BaseException:  # the terminal tells the program as well, a notebook does not
            process.terminate()  # the end of `with` waits for it
            raise
    if process.returncode not in (0, 1):  # 1: some points have failed
        raise Error(said.strip() or f"{command[0]} ended with exit code {process.returncode}")
    return dse_results.tidy(out)
