/* SPDX-License-Identifier: MIT
 * src/ops/scalar/definitions.h: every definition's prototype, once. Included once a build, with
 * OP and real set for it (see ops/builds.h); so it has no include guard. */

/* blas.c */
OP(vec_dot)(const real* x, const real* y, real* out, size_t n);
OP(vec_add)(const real* x, const real* y, real* out, size_t n);
OP(vec_sub)(const real* x, const real* y, real* out, size_t n);
OP(vec_mul)(const real* x, const real* y, real* out, size_t n);
OP(vec_scale)(const real* x, real* out, size_t n, real scale);
OP(vec_axpy)(const real* x, const real* y, real* out, size_t n, real a);
OP(vec_sum)(const real* x, real* out, size_t n);
OP(vec_max)(const real* x, real* out, size_t n);
OP(vec_sum_squares)(const real* x, real* out, size_t n);

/* matrix.c */
OP(gemv)(const real* a, const real* x, real* y, size_t m, size_t n);
OP(gemm)(const real* a, const real* b, real* c, size_t m, size_t n, size_t k);
OP(gemm_i8i8)(const int8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k);
OP(gemm_u8i8)(const uint8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k);
OP(pack_b)(const real* b, real* packed, size_t k, size_t n);
OP(scale_rows)(const real* x, const real* scale, real* out, size_t n);
OP(dequantize_i32)
(const int32_t* acc, const real* row_scale, const real* column_scale, real* out, size_t n);

/* activation.c */
OP(exp)(const real* x, real* out, size_t n);
OP(tanh)(const real* x, real* out, size_t n);
OP(sigmoid)(const real* x, real* out, size_t n);
OP(relu)(const real* x, real* out, size_t n);
OP(silu)(const real* x, real* out, size_t n);
OP(gelu)(const real* x, real* out, size_t n);
OP(gelu_tanh)(const real* x, real* out, size_t n);
OP(swiglu)(const real* gate, const real* up, real* out, size_t n);
OP(geglu)(const real* gate, const real* up, real* out, size_t n);
OP(swiglu_oai)(const real* gate, const real* up, real* out, size_t n);
OP(softmax)(const real* x, real* out, size_t n);

/* norm.c */
OP(rms_norm_after_weight)(const real* x, const real* w, real* out, size_t n, real eps);
OP(rms_norm_before_weight)(const real* x, const real* w, real* out, size_t n, real eps, int type_x);
OP(layer_norm_after_weight)
(const real* x, const real* w, const real* b, real* out, size_t n, real eps);
OP(layer_norm_before_weight)
(const real* x, const real* w, const real* b, real* out, size_t n, real eps, int type_x);
OP(add_rms_norm_after_weight)
(const real* x, const real* residual, const real* w, real* out, real* sum, size_t n, real eps,
 int type_sum);
OP(add_rms_norm_before_weight)
(const real* x, const real* residual, const real* w, real* out, real* sum, size_t n, real eps,
 int type_sum, int type_x);

/* position.c */
OP(rope_half)(const real* x, const real* cosine, const real* sine, real* out, size_t d);
OP(rope_interleaved)(const real* x, const real* cosine, const real* sine, real* out, size_t d);
OP(rope_with_pos_half)
(const real* x, const real* cosine, const real* sine, const int32_t* position, real* out,
 size_t table, size_t d);
OP(rope_with_pos_interleaved)
(const real* x, const real* cosine, const real* sine, const int32_t* position, real* out,
 size_t table, size_t d);
OP(rope_table)
(const int32_t* position, real* cosine, real* sine, size_t d, real theta, real factor,
 real beta_fast, real beta_slow, real original);
OP(rope_table_truncate)
(const int32_t* position, real* cosine, real* sine, size_t d, real theta, real factor,
 real beta_fast, real beta_slow, real original);

/* backward.c */
OP(rope_backward_half)(const real* dy, const real* cosine, const real* sine, real* dx, size_t d);
OP(rope_backward_interleaved)
(const real* dy, const real* cosine, const real* sine, real* dx, size_t d);
OP(rope_with_pos_backward_half)
(const real* dy, const real* cosine, const real* sine, const int32_t* position, real* dx,
 size_t table, size_t d);
OP(rope_with_pos_backward_interleaved)
(const real* dy, const real* cosine, const real* sine, const int32_t* position, real* dx,
 size_t table, size_t d);
OP(rms_norm_row_backward)
(const real* x, const real* w, const real* dy, real* dx, real* dw_row, size_t n, real eps);
OP(sum_rows)(const real* x, real* out, size_t rows, size_t cols);

/* glue.c */
OP(cast_ieee)(const real* x, real* out, size_t n);
OP(cast_saturate)(const real* x, real* out, size_t n, int type_out);
OP(embedding)(const real* table, const int32_t* id, real* out, size_t vocab, size_t dim);
OP(argmax)(const real* x, int32_t* index, size_t n);
OP(quantize_i8)(const real* x, int8_t* q, real* scale, size_t n);

/* fp8.c */
OP(fp8_quantize_tensor)(const real* x, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_tensor_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_tensor_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_row)(const real* x, real* q, real* scale, size_t cols, int type_q);
OP(fp8_quantize_row_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q);
OP(fp8_quantize_row_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q);
OP(fp8_quantize_column)(const real* x, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_column_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_column_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_block_1x128)(const real* x, real* q, real* scale, size_t cols, int type_q);
OP(fp8_quantize_block_1x128_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q);
OP(fp8_quantize_block_1x128_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q);
OP(fp8_quantize_block_128x128)
(const real* x, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_block_128x128_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_quantize_block_128x128_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q);
OP(fp8_dequantize_row)(const real* q, const real* scale, real* out, size_t cols);
OP(fp8_dequantize_column)(const real* q, const real* scale, real* out, size_t cols);
OP(fp8_dequantize_block_1x128)(const real* q, const real* scale, real* out, size_t cols);
OP(fp8_dequantize_block_128x128)
(const real* q, const real* scale, real* out, size_t rows, size_t cols);
