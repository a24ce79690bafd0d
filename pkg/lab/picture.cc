#include "pkg/lab/picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

namespace berth::lab {

std::string XmlText(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

namespace {

constexpr size_t kMostBars = 60, kMostNameLetters = 44;
constexpr double kNameWidth = 300, kBarWidth = 420, kLabelWidth = 160, kLine = 22, kMargin = 20;
constexpr double kPlotWidth = 520, kPlotHeight = 340, kPlotLeft = 80, kPlotTop = 60, kPlotBelow = 60;
constexpr const char* kUsual = "#0072b2";
constexpr const char* kOther = "#d55e00";

// Returns the name with its middle left out if it is long: names of nodes differ at their ends.
std::string ShortName(const std::string& name) {
  if (name.size() <= kMostNameLetters) return name;
  const size_t half = (kMostNameLetters - 3) / 2;
  return absl::StrCat(name.substr(0, half), "...", name.substr(name.size() - half));
}

std::string Opening(double width, double height, const std::string& title) {
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
      "<title>%s</title>\n<style>text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}"
      ".grid{stroke:#ddd;stroke-width:1}</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      width, height, width, height, XmlText(title));
}

void Text(double x, double y, const char* more, const std::string& text, std::string* out) {
  absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, more, XmlText(text));
}

// Returns the distance of grid lines: 1, 2 or 5 times a power of ten, so that there are at most six.
double GridStep(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 6)));
  for (double times : {1.0, 2.0, 5.0}) {
    if (range / (times * power) <= 6) return times * power;
  }
  return 10 * power;
}

// An axis with its ends at round values.
struct PlotScale {
  double least = 0, most = 1, step = 1;

  PlotScale(const std::vector<Point>& points, double Point::*value) {
    if (points.empty()) return;
    least = most = points[0].*value;
    for (const Point& p : points) {
      least = std::min(least, p.*value);
      most = std::max(most, p.*value);
    }
    const double range = std::max(most - least, std::max(std::abs(most), 1e-3) * 0.02);
    step = GridStep(range);
    least = std::floor(least / step - 0.25) * step;
    if (least < 0) least = 0;
    most = std::ceil(most / step + 0.25) * step;
  }
  double Share(double value) const { return (value - least) / (most - least); }
  std::string Text(double value, bool percent) const {
    if (percent) return absl::StrFormat("%g%%", std::round(value * 1e6) / 1e4);
    return absl::StrFormat("%g", std::round(value * 1e4) / 1e4);
  }
};

}  // namespace

std::string BarsSvg(const std::string& title, const std::vector<BarGroup>& groups) {
  std::string body;
  double y = kMargin + 14;
  Text(kMargin, y, " class=\"title\"", title, &body);
  for (const BarGroup& group : groups) {
    y += kLine + 8;
    if (!group.title.empty()) Text(kMargin, y, " font-weight=\"bold\"", group.title, &body);
    std::vector<const Bar*> shown;
    for (const Bar& bar : group.bars) shown.push_back(&bar);
    if (shown.size() > kMostBars) {
      std::stable_sort(shown.begin(), shown.end(), [](const Bar* a, const Bar* b) { return a->value > b->value; });
      shown.resize(kMostBars);
    }
    double most = group.most;
    for (const Bar* bar : shown) most = std::max(most, bar->value);
    for (const Bar* bar : shown) {
      y += kLine;
      const double width = most > 0 ? bar->value / most * kBarWidth : 0;
      Text(kMargin + kNameWidth - 8, y, " text-anchor=\"end\"", ShortName(bar->name), &body);
      absl::StrAppendFormat(&body, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                            kMargin + kNameWidth, y - 12, std::max(width, 1.0), kLine - 6, kUsual);
      Text(kMargin + kNameWidth + width + 8, y, "", bar->label, &body);
    }
    if (shown.size() < group.bars.size()) {
      y += kLine;
      Text(kMargin, y, "", absl::StrCat("and ", group.bars.size() - shown.size(), " more"), &body);
    }
  }
  return Opening(2 * kMargin + kNameWidth + kBarWidth + kLabelWidth, y + kMargin, title) + body + "</svg>\n";
}

std::string PointsSvg(const std::string& title, const Axis& x, const Axis& y, const std::vector<Point>& points) {
  const PlotScale across(points, &Point::x), up(points, &Point::y);
  const auto at_x = [&](double value) { return kPlotLeft + across.Share(value) * kPlotWidth; };
  const auto at_y = [&](double value) { return kPlotTop + (1 - up.Share(value)) * kPlotHeight; };
  std::string out = Opening(kPlotLeft + kPlotWidth + kLabelWidth, kPlotTop + kPlotHeight + kPlotBelow, title);
  Text(kMargin, kMargin + 8, " class=\"title\"", title, &out);
  for (double value = up.least; value <= up.most + up.step / 2; value += up.step) {
    absl::StrAppendFormat(&out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", kPlotLeft,
                          at_y(value), kPlotLeft + kPlotWidth, at_y(value));
    Text(kPlotLeft - 8, at_y(value) + 4, " text-anchor=\"end\"", up.Text(value, y.percent), &out);
  }
  for (double value = across.least; value <= across.most + across.step / 2; value += across.step) {
    Text(at_x(value), kPlotTop + kPlotHeight + 18, " text-anchor=\"middle\"", across.Text(value, x.percent), &out);
  }
  Text(kPlotLeft + kPlotWidth / 2, kPlotTop + kPlotHeight + 42, " text-anchor=\"middle\"", x.title, &out);
  Text(kPlotLeft, kPlotTop - 12, "", y.title, &out);
  for (const Point& p : points) {
    absl::StrAppendFormat(&out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", at_x(p.x), at_y(p.y),
                          p.stands_out ? kOther : kUsual);
    Text(at_x(p.x) + 8, at_y(p.y) + 4, "", p.name, &out);
  }
  return out + "</svg>\n";
}

bool WritePicture(const std::string& file, const std::string& svg) {
  std::ofstream out(file, std::ios::binary);
  out << svg;
  out.close();
  if (out) return true;
  std::cerr << "schedsim: --svg: cannot write " << file << "\n";
  return false;
}

}  // namespace berth::lab
