#include "pkg/lab/chart.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "pkg/lab/picture.h"

namespace berth::lab {
namespace {

// The colours of Okabe and Ito, which people with colour blindness can tell apart. Further curves repeat them, dashed.
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#8a7f00"};
constexpr double kPanelWidth = 400, kPanelHeight = 300, kLeft = 62, kTop = 48, kBetween = 84, kBottom = 56;

// One of the two diagrams: `value` of the samples against the arrived load.
struct Panel {
  std::string title;
  std::function<double(const Sample&)> value;
  double left = 0, most_x = 1, most_y = 1;

  double X(double share) const { return left + share / most_x * kPanelWidth; }
  double Y(double share) const { return kTop + (1 - share / most_y) * kPanelHeight; }
};

// Returns the distance of the grid lines for an axis up to `most`: a round percentage, with at most six steps.
double StepOf(double most) {
  for (double step : {0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0}) {
    if (most / step <= 6) return step;
  }
  return std::ceil(most / 6);
}

void Axes(const Panel& p, const std::string& x_title, std::string* out) {
  absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"title\">%s</text>\n", p.left, kTop - 16,
                        XmlText(p.title));
  for (double y = 0, step = StepOf(p.most_y); y <= p.most_y + 1e-9; y += step) {
    absl::StrAppendFormat(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", p.left,
                          p.Y(y), p.left + kPanelWidth, p.Y(y));
    absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.0f%%</text>\n", p.left - 8,
                          p.Y(y) + 4, 100 * y);
  }
  for (double x = 0, step = StepOf(p.most_x); x <= p.most_x + 1e-9; x += step) {
    absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f%%</text>\n", p.X(x),
                          kTop + kPanelHeight + 18, 100 * x);
  }
  absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", p.left + kPanelWidth / 2,
                        kTop + kPanelHeight + 40, XmlText(x_title));
}

void Line(const Panel& p, const Curve& curve, size_t number, std::string* out) {
  absl::StrAppendFormat(out, "<polyline class=\"line\" stroke=\"%s\"%s points=\"", kColours[number % kColours.size()],
                        number >= kColours.size() ? " stroke-dasharray=\"6 3\"" : "");
  for (const Sample& s : curve.samples) absl::StrAppendFormat(out, "%.2f,%.2f ", p.X(s.arrived), p.Y(p.value(s)));
  *out += "\"/>\n";
}

}  // namespace

std::string ChartSvg(const std::string& resource, const std::vector<Curve>& curves) {
  Panel allocation{"Allocated, of all " + resource, [](const Sample& s) { return s.allocation; }, kLeft};
  Panel fragmentation{"Fragmented, of free " + resource, [](const Sample& s) { return s.fragmentation; },
                      kLeft + kPanelWidth + kBetween};
  double most = 0.1;
  for (const Curve& c : curves) {
    for (const Sample& s : c.samples) most = std::max(most, s.arrived);
  }
  const double step = StepOf(most);
  most = std::ceil(most / step - 1e-9) * step;
  const double legend_top = kTop + kPanelHeight + kBottom + 8, line_height = 20;
  const double width = kLeft + 2 * kPanelWidth + kBetween + 24;
  const size_t columns = 3, lines = (curves.size() + columns - 1) / columns;
  const double height = legend_top + line_height * static_cast<double>(lines) + 8;
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
      "<style>text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}"
      ".grid{stroke:#ddd;stroke-width:1}.line{fill:none;stroke-width:2}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      width, height, width, height);
  for (Panel* p : {&allocation, &fragmentation}) {
    p->most_x = most;
    Axes(*p, "arrived load, of all " + resource, &out);
    // Later lines cover earlier ones, so the first policy, with which the others are compared, is drawn last.
    for (size_t i = curves.size(); i-- > 0;) Line(*p, curves[i], i, &out);
  }
  for (size_t i = 0; i < curves.size(); ++i) {
    const double x = kLeft + static_cast<double>(i % columns) * (width - kLeft) / columns;
    const double y = legend_top + line_height * static_cast<double>(i / columns);
    absl::StrAppendFormat(
        &out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"line\" stroke=\"%s\"%s/>\n", x, y, x + 24,
        y, kColours[i % kColours.size()], i >= kColours.size() ? " stroke-dasharray=\"6 3\"" : "");
    std::string name = curves[i].name.size() > 36 ? curves[i].name.substr(0, 33) + "..." : curves[i].name;
    absl::StrAppendFormat(&out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 32, y + 4, XmlText(name));
  }
  return out + "</svg>\n";
}

}  // namespace berth::lab
