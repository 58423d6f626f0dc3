// SPDX-License-Identifier: MIT
// tests/workbench/report_html_make.cpp: REPORT.json PAGE.html: renders a page for the browser test.
#include <fstream>
#include <iostream>

#include "workbench/report_html.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: report_html_make REPORT.json PAGE.html\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  out << nrd::render_html(nlohmann::json::parse(in));
  return out.good() ? 0 : 1;
}
