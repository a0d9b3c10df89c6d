// What a printed schedule is compiled with: the Funcs it speaks of, its two words that Halide does not have, and a run
// that counts. scripts/check-halide writes a function for every schedule behind this file.
#include <halide14/Halide.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace Halide;

// Where the array's data moves changes no result and no store.
struct StageOnArray : Halide::Stage {
    explicit StageOnArray(const Halide::Stage &stage) : Halide::Stage(stage) {}
    void systolic(const std::vector<VarOrRVar> &) {}
};

struct FuncOnArray : Halide::Func {
    using Halide::Func::Func;
    StageOnArray update() { return StageOnArray(Halide::Func::update()); }
    void accelerate(const std::vector<Halide::Func> &) {}
};

struct Shape {
    int x, y, k, b, fx, fy, c, stride_x, stride_y, dilation_x, dilation_y;
    int n_input, n_weight; // copies
};

static int value_of(int i, int j, int k, int l, int seed) { return (7 * i + 5 * j + 3 * k + 11 * l + i * j + seed) % 17 - 8; }
static Expr value_of(Expr i, Expr j, Expr k, Expr l, int seed) { return (7 * i + 5 * j + 3 * k + 11 * l + i * j + seed) % 17 - 8; }

// Both are inlined into their copies, so that only these are stored.
static void define_inputs(Func input, Func w) {
    Var i, j, k, l;
    input(i, j, k, l) = value_of(i, j, k, l, 0);
    w(i, j, k, l) = value_of(i, j, k, l, 1);
}

static std::map<std::string, long> n_store;
static int count_store(JITUserContext *, const halide_trace_event_t *event) {
    if (event->event == halide_trace_store)
        n_store[event->func]++;
    return 0;
}

static int plain(const Shape &s, int x, int y, int k, int b) {
    int sum = 0;
    for (int c = 0; c < s.c; c++)
        for (int fy = 0; fy < s.fy; fy++)
            for (int fx = 0; fx < s.fx; fx++)
                sum += value_of(x * s.stride_x + fx * s.dilation_x, y * s.stride_y + fy * s.dilation_y, c, b, 0) * value_of(fx, fy, c, k, 1);
    return sum;
}

// One line: number, whether all results are equal, stores to each copy of the inputs and then of the weights.
static void run(int number, const Shape &s, FuncOnArray &output, Func input, Func w) {
    std::vector<std::string> copy;
    for (int i = 0; i < s.n_input; i++)
        input = input.in().trace_stores(), copy.push_back(input.name());
    for (int i = 0; i < s.n_weight; i++)
        w = w.in().trace_stores(), copy.push_back(w.name());
    output.jit_handlers().custom_trace = count_store;
    n_store.clear();
    static const Target target = get_jit_target_from_environment().with_feature(Target::DisableLLVMLoopOpt);
    Buffer<int> got = output.realize({s.x, s.y, s.k, s.b}, target);
    bool equal = true;
    for (int b = 0; b < s.b; b++)
        for (int k = 0; k < s.k; k++)
            for (int y = 0; y < s.y; y++)
                for (int x = 0; x < s.x; x++)
                    equal = equal && got(x, y, k, b) == plain(s, x, y, k, b);
    std::printf("%d %s", number, equal ? "equal" : "different");
    for (const std::string &name : copy)
        std::printf(" %ld", n_store[name]);
    std::printf("\n");
    std::fflush(stdout);
}
