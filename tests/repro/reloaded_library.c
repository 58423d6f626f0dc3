/* SPDX-License-Identifier: MIT
 * tests/repro/reloaded_library.c: the same code with another constant in each build. */
float scaled(float x) { return x * FACTOR; }
