// SPDX-License-Identifier: MIT
// tests/workbench/report_html_make.cpp: REPORT.json PAGE.html: a page for the browser test.
#include <fstream>
#include <iostream>
#include <iterator>

#include "workbench/report_html.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: report_html_make REPORT.json PAGE.html\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  const std::string document((std::istreambuf_iterator<char>(in)), {});
  std::ofstream out(argv[2]);
  out << nrd::render_html(document);
  return out.good() ? 0 : 1;
}
