// Draws bars and points as SVG documents. The results depend on the arguments alone.
#pragma once
#include <string>
#include <vector>

namespace berth::lab {

// Returns a text with what XML reads as syntax escaped.
std::string XmlText(const std::string& text);

struct Bar {
  std::string name;
  double value = 0;   // 0 or more
  std::string label;  // the value as text, beside the bar
};
// Bars with a heading of their own, and on a scale of their own.
struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
  double most = 0;  // the value of a bar that fills the width; 0: the largest one
};
// Returns horizontal bars, a line each. Of more than 60 bars of a group, the largest are drawn, and a line says how
// many are left out.
std::string BarsSvg(const std::string& title, const std::vector<BarGroup>& groups);

struct Point {
  std::string name;
  double x = 0, y = 0;
  bool stands_out = false;  // drawn in another colour
};
struct Axis {
  std::string title;
  bool percent = false;  // whether values are shares from 0 to 1
};
// Returns a diagram of points with their names.
std::string PointsSvg(const std::string& title, const Axis& x, const Axis& y, const std::vector<Point>& points);

// Writes the picture to a file. Returns false, after an error message on standard error, if that fails.
bool WritePicture(const std::string& file, const std::string& svg);

}  // namespace berth::lab
