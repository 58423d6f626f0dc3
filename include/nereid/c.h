/* SPDX-License-Identifier: MIT
 * nereid/c.h: the C ABI. The C++ headers are written over it.
 *
 * Opaque handles, plain structs that begin with their size, a status from every call that can
 * fail, and the whole error of the last failed call of this thread in nereid_last_error().
 * A struct_size smaller than ours is an older caller: what it lacks is zero. 0 or more than ours
 * is NEREID_INVALID_ARGUMENT. Where a context is taken, NULL means the default one.
 * Functions are thread safe unless said otherwise; nothing throws, prints or exits. */
#ifndef NEREID_C_H
#define NEREID_C_H

#include <stddef.h>
#include <stdint.h>

#define NEREID_VERSION "0.1.0"
#define NEREID_MAX_RANK 8

#if defined(_WIN32)
#define NEREID_API
#else
#define NEREID_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nereid_status {
  NEREID_OK = 0,
  NEREID_INVALID_ARGUMENT = 1,
  NEREID_SHAPE_MISMATCH = 2,
  NEREID_UNSUPPORTED_DTYPE = 3,
  NEREID_OVERLAP = 4,
  NEREID_UNKNOWN_NAME = 5,
  NEREID_UNSUPPORTED = 6,
  NEREID_NUMERICAL_OVERFLOW = 7,
  NEREID_ENVIRONMENT = 8,
  NEREID_INTERNAL = 9
} nereid_status;

typedef enum nereid_dtype {
  NEREID_F64 = 1,
  NEREID_F32 = 2,
  NEREID_F16 = 3,
  NEREID_BF16 = 4,
  NEREID_F8E4M3 = 5,
  NEREID_F8E5M2 = 6,
  NEREID_E8M0 = 7,
  NEREID_E2M1 = 8, /* one code a byte, in the low nibble */
  NEREID_I8 = 9,
  NEREID_U8 = 10,
  NEREID_I32 = 11
} nereid_dtype;

typedef enum nereid_device { NEREID_CPU = 0, NEREID_CUDA = 1 } nereid_device;

typedef struct nereid_context nereid_context; /* backends, threads, hooks, prepared calls */
typedef struct nereid_plan nereid_plan;       /* a call prepared for its shapes */
typedef struct nereid_packed nereid_packed;   /* the right-hand matrix of a gemm, prepared once */
typedef struct nereid_form nereid_form;       /* how an operand lies, where strides do not say it */
typedef struct nereid_names nereid_names;     /* the names of a call's parts, looked up once */

/* --- Errors ------------------------------------------------------------------------------- */

/* What a person needs to mend the call; parts that do not apply are "". `message` is all of it
 * in one sentence. */
typedef struct nereid_error {
  uint32_t struct_size;
  int32_t status; /* nereid_status */
  const char* op;
  const char* argument;
  const char* got;
  const char* allowed;
  const char* hint;
  const char* message;
} nereid_error;

/* Of this thread's last failed call; valid until its next failed call. Never NULL. */
NEREID_API const nereid_error* nereid_last_error(void);
NEREID_API const char* nereid_status_name(nereid_status status); /* "shape mismatch" */

NEREID_API const char* nereid_version(void); /* of the library: compare with NEREID_VERSION */
NEREID_API const char* nereid_dtype_name(nereid_dtype dtype); /* "bf16"; "invalid" */
NEREID_API size_t nereid_dtype_size(nereid_dtype dtype);      /* bytes; 0 if invalid */
NEREID_API nereid_status nereid_parse_dtype(const char* word, nereid_dtype* dtype);

/* --- Tensors and calls -------------------------------------------------------------------- */

enum {
  NEREID_READ_ONLY = 1, /* refused as an output */
  NEREID_CONSTANT = 2   /* its content stays as it is while a plan lives (nereid_prepare only) */
};

/* A view of the caller's memory. Strides are in elements, may be 0 or negative; NULL means
 * contiguous, last axis fastest. `data` is aligned to the element size; NULL if there are none.
 * All operands of a call lie on one device. */
typedef struct nereid_tensor {
  uint32_t struct_size;
  uint32_t flags;
  void* data;
  int32_t dtype; /* nereid_dtype */
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t device;          /* nereid_device */
  int32_t device_index;    /* which CUDA device; not looked at for the CPU */
  const nereid_form* form; /* NULL: as the strides say; else that of nereid_packed_tensor */
} nereid_tensor;

/* An operand by the name it has in the operator's signature. A NULL tensor is an absent one. */
typedef struct nereid_operand {
  const char* name;
  const nereid_tensor* tensor;
} nereid_operand;

/* An attribute: a word for a choice, else a number (word is NULL). */
typedef struct nereid_attribute {
  const char* name;
  const char* word;
  double number;
} nereid_attribute;

typedef struct nereid_call {
  uint32_t struct_size;
  int32_t threads; /* 0: as the context says */
  const char* op;
  const nereid_operand* operands;
  const nereid_attribute* attributes;
  int32_t operand_count;
  int32_t attribute_count;
  const char* backend;       /* NULL: the thread's (nereid_push_backend), else the context's */
  const nereid_names* names; /* not NULL: these are the names; `op` and those of operands and
                                attributes are not looked at, and the counts must agree */
  void* stream; /* CUDA operands: the CUstream it runs in; NULL: their device's default stream */
} nereid_call;

/* Keeps the names of calls that come often: a repeated call that has them in `names` need not
 * spell and compare them. Equal names give the same pointer, which lives as long as the library.
 * Whether the operator has such operands is found out by the call. */
NEREID_API nereid_status nereid_keep_names(const char* op, const char* const* operands,
                                           int32_t operand_count, const char* const* attributes,
                                           int32_t attribute_count, const nereid_names** names);

/* --- Contexts ----------------------------------------------------------------------------- */

/* Runs body(body_context, i) for each i in [0, count), in any order and on any threads, and
 * returns when all are done. */
typedef void (*nereid_body)(void* body_context, int64_t index);

/* Zeros mean the defaults. Hooks must not throw and may be called by several threads at once. */
typedef struct nereid_context_options {
  uint32_t struct_size;
  int32_t threads; /* a call's threads unless it says; 0: NEREID_THREADS, else the cores */
  int32_t strict;  /* 1: a fallback is an error, -1: it is not; 0: as NEREID_ON_FALLBACK says */
  int32_t executor_width; /* threads that parallel_for has */
  const char* backend;    /* NULL: "cpu" for CPU tensors, "cuda" for CUDA ones */
  const char* isa;        /* a level of `nereid info` as the highest to use; refused where absent */
  void* user;             /* given to every hook */
  void* (*allocate)(void* user, size_t bytes, size_t alignment); /* NULL when it cannot */
  void (*release)(void* user, void* memory, size_t bytes);
  void (*log)(void* user, int32_t level, const char* line); /* this context's dispatch lines */
  void (*parallel_for)(void* user, int64_t count, nereid_body body, void* body_context);
  int32_t batch_invariant; /* 1: a row's bits do not depend on how many rows there are */
} nereid_context_options;

/* `options` may be NULL. A destroyed context lives on until its plans are destroyed. */
NEREID_API nereid_status nereid_context_create(const nereid_context_options* options,
                                               nereid_context** context);
NEREID_API void nereid_context_destroy(nereid_context* context); /* NULL: nothing */
/* The process's own; NULL, with an error, when the environment (NEREID_ISA ...) is wrong. */
NEREID_API nereid_context* nereid_default_context(void);

/* From here to the matching pop, calls of this thread that name no backend use this one. */
NEREID_API nereid_status nereid_push_backend(nereid_context* context, const char* name);
NEREID_API void nereid_pop_backend(void);

/* Where lines go that belong to no context with a log hook. Levels: 1 dispatch, 2 info, 3 warning.
 * NULL switches logging off, NEREID_LOG's lines too. Process-wide. */
NEREID_API void nereid_set_log(void (*log)(void* user, int32_t level, const char* line),
                               void* user);

/* --- Running operators -------------------------------------------------------------------- */

/* Runs an operator once. Outputs are operands like inputs and must be given. The first call with
 * new shapes, dtypes, strides or attributes prepares a plan, which the context keeps; memory for
 * intermediate values is kept too. With CUDA operands it is enqueued in the call's stream, and
 * memory for intermediate values is the stream's own until the context is destroyed. Indices
 * (positions, ids) are read by the device alone: one that is out of range is no error there, it
 * makes its row NaN. */
NEREID_API nereid_status nereid_run(nereid_context* context, const nereid_call* call);

/* Checks and prepares a call, without running it. Data is needed for NEREID_CONSTANT operands
 * only; these stay valid and unchanged as long as the plan lives. */
NEREID_API nereid_status nereid_prepare(nereid_context* context, const nereid_call* call,
                                        nereid_plan** plan);
/* `data` holds a pointer an operand, in the order they had in nereid_prepare; NULL for constant
 * and absent ones. `workspace`: nereid_plan_workspace bytes where the operands lie, aligned to 64
 * (on a CUDA device to 256), or NULL for memory of the context's. `threads`: 0 as prepared. Several
 * threads may run one plan at once, each with a workspace of its own. CUDA operands: in the default
 * stream. */
NEREID_API nereid_status nereid_plan_run(const nereid_plan* plan, void* const* data, int32_t count,
                                         void* workspace, size_t workspace_bytes, int32_t threads);
/* The same in a stream of the device that the operands lie on (CUstream; NULL: the default one). */
NEREID_API nereid_status nereid_plan_run_on(const nereid_plan* plan, void* const* data,
                                            int32_t count, void* workspace, size_t workspace_bytes,
                                            void* stream);
NEREID_API size_t nereid_plan_workspace(const nereid_plan* plan);
NEREID_API void nereid_plan_destroy(nereid_plan* plan); /* NULL: nothing */

typedef struct nereid_plan_info {
  uint32_t struct_size;
  int32_t threads;
  const char* backend;  /* strings live as long as the plan */
  const char* kernel;   /* "autovec_avx512" */
  const char* isa;      /* "" when it is the peer's business */
  const char* note;     /* what a report should say of it */
  const char* fallback; /* not "" when a better kernel was expected here */
  const char* text;     /* "rms_norm rows=4,cols=64 f32 eps=1e-05" */
} nereid_plan_info;
NEREID_API nereid_status nereid_describe_plan(const nereid_plan* plan, nereid_plan_info* info);

/* The outputs of a call: all are listed, given or not. Data is not looked at. */
typedef struct nereid_shape {
  uint32_t struct_size;
  int32_t dtype;
  const char* name; /* lives as long as the library */
  int32_t rank;
  int32_t present; /* 0: an optional output that was not asked for */
  int64_t sizes[NEREID_MAX_RANK];
} nereid_shape;
/* Fills at most `capacity` elements; `count` is how many there are. The elements lie
 * outputs[0].struct_size bytes apart. */
NEREID_API nereid_status nereid_infer(nereid_context* context, const nereid_call* call,
                                      nereid_shape* outputs, int32_t capacity, int32_t* count);

/* Prepares kernels and threads, so that a first call is as fast as a second. NULL ops: all;
 * NULL dtypes: f32. A dtype that one of all operators does not take is skipped. */
NEREID_API nereid_status nereid_warm_up(nereid_context* context, const char* const* ops,
                                        int32_t op_count, const nereid_dtype* dtypes,
                                        int32_t dtype_count);

/* --- Devices ------------------------------------------------------------------------------ */

/* `device` is a nereid_device; a number that is none is an error. */

/* How many there are of a kind; of CPUs one. An error says why CUDA devices cannot be asked for
 * (not built in, no driver), and the count is 0. */
NEREID_API nereid_status nereid_device_count(int32_t device, int32_t* count);

typedef struct nereid_device_info {
  uint32_t struct_size;
  int32_t multiprocessors;
  const char* name; /* strings live until this thread's next nereid_describe_device */
  int32_t major;    /* compute capability */
  int32_t minor;
  uint64_t memory_bytes;
  uint64_t l2_bytes;
  const char* isa;    /* of the kernels it runs: "sm_90a", "sm_80"; "" if there are none for it */
  const char* reason; /* why there are none, else "" */
} nereid_device_info;
/* A CUDA device. */
NEREID_API nereid_status nereid_describe_device(int32_t device, int32_t index,
                                                nereid_device_info* info);

/* Memory of a device, aligned to 256 bytes (of the CPU to 64) and not initialised. Who has the
 * memory from elsewhere (cudaMalloc, a framework) needs none of this. */
NEREID_API nereid_status nereid_device_allocate(int32_t device, int32_t index, size_t bytes,
                                                void** memory);
/* Waits until nothing on the device can be using it. NULL: nothing. */
NEREID_API void nereid_device_release(int32_t device, int32_t index, void* memory);

/* Copies the elements of a contiguous tensor to another of the same dtype and sizes, each on the
 * CPU or on a CUDA device. Returns when they are there; work in other streams than the default one
 * must be waited for first. */
NEREID_API nereid_status nereid_copy(const nereid_tensor* from, const nereid_tensor* to);
/* Enqueues the copy in a stream of the device of `to`, or of `from` where `to` is on the CPU. Host
 * memory that is pinned must stay as it is until the stream has come there. */
NEREID_API nereid_status nereid_copy_on(const nereid_tensor* from, const nereid_tensor* to,
                                        void* stream);
/* Waits until all that was enqueued is done; the error is that of any of it. */
NEREID_API nereid_status nereid_stream_synchronize(int32_t device, int32_t index, void* stream);

/* --- Packed matrices ---------------------------------------------------------------------- */

/* Prepares b, a (k,n) view with any strides, for many products; b may be freed afterwards. The
 * result belongs to the ISA level it was packed for and is refused by contexts of another. All
 * memory is the CPU's. */
NEREID_API nereid_status nereid_pack_b(nereid_context* context, const nereid_tensor* b,
                                       nereid_packed** packed);
/* Back to what it was, bit for bit (NaNs may change their payload): b has its shape and dtype and
 * any strides. */
NEREID_API nereid_status nereid_unpack_b(const nereid_packed* packed, const nereid_tensor* b);
NEREID_API void nereid_packed_destroy(nereid_packed* packed); /* NULL: nothing */

typedef struct nereid_packed_info {
  uint32_t struct_size;
  int32_t dtype; /* of the matrix that was packed */
  int64_t k;
  int64_t n;
  size_t bytes;
  const char* isa;
} nereid_packed_info;
NEREID_API nereid_status nereid_describe_packed(const nereid_packed* packed,
                                                nereid_packed_info* info);

/* The matrix as the operand b of products whose a has dtype `a_dtype`, for nereid_run and
 * nereid_prepare: any product, epilogues included ("gemm+bias+silu"). One plan serves all matrices
 * of one shape and form. The tensor points into `packed`. */
NEREID_API nereid_status nereid_packed_tensor(const nereid_packed* packed, int32_t a_dtype,
                                              nereid_tensor* tensor);

/* A file of the panels, written whole or not at all. */
NEREID_API nereid_status nereid_packed_save(const nereid_packed* packed, const char* path);
enum { NEREID_VERIFY = 1 /* read the panels once and compare their checksum */ };
/* Maps such a file read-only; pages come from it when they are used. It must stay as it is while
 * the matrix lives. Refused: files of another kind, version, byte order or ISA, damaged ones. */
NEREID_API nereid_status nereid_packed_map(nereid_context* context, const char* path,
                                           uint32_t flags, nereid_packed** packed);

/* What follows a product before it is stored, in this order; NULL parts are left out. */
typedef struct nereid_epilogue {
  uint32_t struct_size;
  int32_t threads;
  const nereid_tensor* bias;     /* [n] */
  const char* activation;        /* an elementwise operator of one input: "gelu" */
  const nereid_tensor* residual; /* [..., m, n]; may be the same memory as c */
  const char* backend;
  const nereid_tensor* scale; /* [] or [n]; comes first, in front of the bias */
} nereid_epilogue;
/* c[..., m, n] = activation(a[..., m, k] b * scale + bias) + residual. f32 inside, rounded once.
 * epilogue may be NULL. */
NEREID_API nereid_status nereid_gemm_packed(nereid_context* context, const nereid_tensor* a,
                                            const nereid_packed* b, const nereid_tensor* c,
                                            const nereid_epilogue* epilogue);

/* Several products, each as nereid_gemm_packed would do it and with the same bits, over one pool of
 * threads: those of a mixture of experts. No c may overlap anything of another product. `threads`
 * of the epilogues are not looked at. */
typedef struct nereid_group_item {
  const nereid_tensor* a;
  const nereid_packed* b;
  const nereid_tensor* c;
  const nereid_epilogue* epilogue; /* may be NULL */
} nereid_group_item;
NEREID_API nereid_status nereid_gemm_grouped(nereid_context* context,
                                             const nereid_group_item* items, int32_t count,
                                             int32_t threads);

/* --- What there is ------------------------------------------------------------------------ */

typedef struct nereid_op_info {
  uint32_t struct_size;
  int32_t attribute_count;
  const char* name; /* strings live as long as the library */
  const char* group;
  const char* signature; /* of its first variant */
  const char* summary;
  const char* example; /* "rows=128,cols=4096" */
  int32_t variant_count;
  int32_t in_place; /* an input may be the same memory as an output */
} nereid_op_info;
NEREID_API int32_t nereid_op_count(void);
NEREID_API nereid_status nereid_describe_op(int32_t index, nereid_op_info* info);
NEREID_API nereid_status nereid_find_op(const char* name, int32_t* index);
/* The signature of a variant and when it is taken ("" always); NULL past the end. */
NEREID_API const char* nereid_variant_signature(int32_t op, int32_t variant);
NEREID_API const char* nereid_variant_condition(int32_t op, int32_t variant);

typedef struct nereid_attribute_info {
  uint32_t struct_size;
  int32_t is_choice;
  const char* name;
  const char* values; /* of a choice, the default first: "half|interleaved"; else "" */
  const char* meaning;
  double number;       /* the default of a number */
  const char* allowed; /* what a number may be: "0 or more"; "" of a choice */
} nereid_attribute_info;
NEREID_API nereid_status nereid_describe_attribute(int32_t op, int32_t index,
                                                   nereid_attribute_info* info);

typedef struct nereid_backend_info {
  uint32_t struct_size;
  int32_t available;
  const char* name; /* strings live until this thread's next nereid_describe_backend */
  const char* version;
  const char* reason; /* why it is not available, else "" */
  int32_t peer;       /* measured against; never chosen unless named */
} nereid_backend_info;
NEREID_API int32_t nereid_backend_count(nereid_context* context);
NEREID_API nereid_status nereid_describe_backend(nereid_context* context, int32_t index,
                                                 nereid_backend_info* info);

/* The call, what the proof of a function of yours assumed of its integers, and every kernel for it,
 * one line each: chosen, accepted or refused, and why. The text lives until this thread's next
 * nereid_explain. */
NEREID_API nereid_status nereid_explain(nereid_context* context, const nereid_call* call,
                                        const char** text);

/* Adds the backend of a shared library (nereid/plugin.h) to the context; to all contexts that
 * have no ISA of their own, when it is such a one. `name` (may be NULL) is the backend's. */
NEREID_API nereid_status nereid_load_plugin(nereid_context* context, const char* path,
                                            const char** name);

/* --- Operators of your own ---------------------------------------------------------------- */

/* What became of a registered function. The strings live as long as the process. */
typedef struct nereid_registered {
  uint32_t struct_size;
  int32_t lifted;        /* its machine code was understood */
  int32_t proved;        /* and what was understood equals the function */
  int32_t compiled;      /* and vector code that equals it was made; else it runs as it is */
  const char* op_class;  /* "elementwise", "norm", ...; "opaque" where it runs as it is */
  const char* signature; /* the operator's: "x[n] -> out[n] ; core n*" */
  const char* reason;    /* why it runs as it is; "" where it does not */
  double lift_us;
  const char* assumes; /* of its integers, else a call is an error: "n >= 1, n % 2 == 0"; or "" */
} nereid_registered;

/* Where a function runs while it is proved. */
typedef enum nereid_prove {
  NEREID_PROVE_HERE = 0,     /* in this process */
  NEREID_PROVE_IN_CHILD = 1, /* in a forked child: what goes wrong there is an error here */
  NEREID_PROVE_NOT = 2       /* nowhere: it is unproved, runs as it is and needs a signature */
} nereid_prove;

typedef struct nereid_register_options {
  uint32_t struct_size;
  int32_t prove;         /* a nereid_prove */
  const char* signature; /* the operator's; NULL: inferred */
} nereid_register_options;

/* Makes a C function an operator for the rest of the process. `c_signature` is its type in C:
 * "void(const float* x, float* out, size_t n)". `signature` is the operator's; NULL: inferred.
 * The function runs in this process while it is proved. `out` may be NULL. What is float in C takes
 * f32, f16 and bf16; what is double takes f64, and those three converted as whole buffers. */
NEREID_API nereid_status nereid_register_op(const char* name, const void* function,
                                            const char* c_signature, const char* signature,
                                            nereid_registered* out);

/* The same with options; NULL: those of nereid_register_op. */
NEREID_API nereid_status nereid_register_op_with(const char* name, const void* function,
                                                 const char* c_signature,
                                                 const nereid_register_options* options,
                                                 nereid_registered* out);

#ifdef __cplusplus
}
#endif

#endif
