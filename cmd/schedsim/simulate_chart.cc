#include "cmd/schedsim/simulate_chart.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pkg/lab/picture.h"
#include "pkg/simulate/times.h"

namespace berth::schedsim {
namespace {

using simulate::Micros;

// The colours of Okabe and Ito, which people with colour blindness can tell apart.
constexpr std::array<const char*, 8> kLineColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#e69f00", "#56b4e9", "#000000", "#8a7f00"};
constexpr double kDiagramWidth = 360, kDiagramHeight = 240, kMarginLeft = 70, kMarginTop = 44, kGap = 80;
constexpr int kSteps = 4;  // of an axis, about

struct Point {
  double x = 0, y = 0;
};
// One diagram with a line for each case.
struct Diagram {
  std::string title, x_title;
  std::vector<std::vector<Point>> lines;
  std::string (*x_text)(double) = nullptr;
  std::string (*y_text)(double) = nullptr;
  double most_x = 0, most_y = 0;  // the ends of the axes
  double step_x = 0, step_y = 0;  // from one line of the grid to the next
};

std::string SecondsAsTime(double seconds) {
  return simulate::TimeText(static_cast<Micros>(seconds * simulate::kSecond));
}
std::string NumberText(double number) {
  return number >= 10 || number == std::floor(number) ? absl::StrFormat("%.0f", number)
                                                      : absl::StrFormat("%.2g", number);
}
std::string PercentText(double share) {
  return NumberText(100 * share) + "%";
}

// Returns a number that is not smaller, and looks round.
double RoundUp(double value) {
  if (value <= 0) return 1;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  for (double step : {1.0, 2.0, 4.0, 5.0, 8.0, 10.0}) {
    if (value <= step * unit * (1 + 1e-9)) return step * unit;
  }
  return 10 * unit;
}

// Returns a time in seconds that is not shorter, and that people count in.
double RoundUpTime(double seconds) {
  constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  for (double unit : {1.0, kMinute}) {
    for (double step : {1.0, 2.0, 5.0, 10.0, 15.0, 30.0}) {
      if (seconds > 1 && seconds <= step * unit) return step * unit;
    }
  }
  for (double hours : {1.0, 2.0, 3.0, 6.0, 12.0}) {
    if (seconds > 1 && seconds <= hours * kHour) return hours * kHour;
  }
  return seconds <= 1 ? RoundUp(seconds) : RoundUp(seconds / kDay) * kDay;
}

void SetAxes(Diagram* d) {
  double most = 0;
  for (const auto& line : d->lines) {
    for (const Point& p : line) most = std::max(most, p.y);
  }
  d->step_y = d->y_text == SecondsAsTime ? RoundUpTime(most / kSteps) : RoundUp(most) / kSteps;
  d->most_y = kSteps * d->step_y;
  if (d->most_x <= 0) d->most_x = 1;
  // The end of the time is the end of the diagram.
  d->step_x = d->x_text == SecondsAsTime ? RoundUpTime(d->most_x / kSteps) : d->most_x / kSteps;
}

void DrawGrid(const Diagram& d, double left, std::string* out) {
  constexpr double kRounding = 1 + 1e-9;
  for (int i = 0; i * d.step_y <= d.most_y * kRounding; ++i) {
    const double y = kMarginTop + (1 - i * d.step_y / d.most_y) * kDiagramHeight;
    absl::StrAppendFormat(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", left, y,
                          left + kDiagramWidth, y);
    absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left - 8, y + 4,
                          d.y_text(i * d.step_y));
  }
  for (int i = 0; i * d.step_x <= d.most_x * kRounding; ++i) {
    absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                          left + i * d.step_x / d.most_x * kDiagramWidth, kMarginTop + kDiagramHeight + 18,
                          d.x_text(i * d.step_x));
  }
}

void Draw(const Diagram& d, double left, std::string* out) {
  const auto x = [&](double v) { return left + v / d.most_x * kDiagramWidth; };
  const auto y = [&](double v) { return kMarginTop + (1 - v / d.most_y) * kDiagramHeight; };
  absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"title\">%s</text>\n", left, kMarginTop - 16,
                        lab::XmlText(d.title));
  DrawGrid(d, left, out);
  absl::StrAppendFormat(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", left + kDiagramWidth / 2,
                        kMarginTop + kDiagramHeight + 38, lab::XmlText(d.x_title));
  // The first case is drawn last, above the others.
  for (size_t i = d.lines.size(); i-- > 0;) {
    absl::StrAppendFormat(out, "<polyline class=\"line\" stroke=\"%s\"%s points=\"",
                          kLineColours[i % kLineColours.size()],
                          i >= kLineColours.size() ? " stroke-dasharray=\"6 3\"" : "");
    for (const Point& p : d.lines[i]) absl::StrAppendFormat(out, "%.2f,%.2f ", x(p.x), y(p.y));
    *out += "\"/>\n";
  }
}

// Returns the three diagrams without their axes' ends.
std::array<Diagram, 3> DiagramsOf(const SimulationReport& report) {
  const size_t r = report.workload->scarcest();
  std::array<Diagram, 3> all;
  const auto set = [](Diagram* d, std::string title, const char* x_title, auto x_text, auto y_text) {
    d->title = std::move(title);
    d->x_title = x_title;
    d->x_text = x_text;
    d->y_text = y_text;
  };
  set(&all[0], absl::StrCat("In use, of ", report.workload->resources()[r]), "time", SecondsAsTime, PercentText);
  set(&all[1], "Pods that wait", "time", SecondsAsTime, NumberText);
  set(&all[2], "Waiting time, at most", "of the pods", PercentText, SecondsAsTime);
  for (const SimulatedCase& c : report.cases) {
    for (Diagram& d : all) d.lines.emplace_back();
    if (!c.error.empty()) continue;
    Micros at = 0;
    for (const simulate::Stretch& s : c.outcome.series.stretches()) {
      const double middle = static_cast<double>(at + s.length / 2) / simulate::kSecond;
      at += s.length;
      all[0].lines.back().push_back({middle, s.offered[r] > 0 ? s.used[r] / s.offered[r] : 0});
      all[1].lines.back().push_back({middle, s.pending});
      all[0].most_x = all[1].most_x = std::max(all[0].most_x, static_cast<double>(at) / simulate::kSecond);
    }
    for (int percent = 0; percent <= 100; ++percent) {
      const Micros wait = c.outcome.waits.Percentile(percent / 100.0);
      all[2].lines.back().push_back({percent / 100.0, static_cast<double>(wait) / simulate::kSecond});
    }
  }
  all[2].most_x = 1;
  return all;
}

}  // namespace

std::string SimulationSvg(const SimulationReport& report) {
  std::array<Diagram, 3> diagrams = DiagramsOf(report);
  for (Diagram& d : diagrams) SetAxes(&d);
  const double width = kMarginLeft + 3 * kDiagramWidth + 2 * kGap + 24, line_height = 20;
  const double legend = kMarginTop + kDiagramHeight + 60;
  const double height = legend + line_height * static_cast<double>(report.cases.size());
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
      "<style>text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}"
      ".grid{stroke:#ddd;stroke-width:1}.line{fill:none;stroke-width:2}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      width, height, width, height);
  for (size_t i = 0; i < diagrams.size(); ++i) {
    Draw(diagrams[i], kMarginLeft + static_cast<double>(i) * (kDiagramWidth + kGap), &out);
  }
  for (size_t i = 0; i < report.cases.size(); ++i) {
    const double y = legend + line_height * static_cast<double>(i);
    absl::StrAppendFormat(&out,
                          "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"line\" stroke=\"%s\"/>"
                          "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                          kMarginLeft, y, kMarginLeft + 24, y, kLineColours[i % kLineColours.size()], kMarginLeft + 32,
                          y + 4, lab::XmlText(report.cases[i].name));
  }
  return out + "</svg>\n";
}

}  // namespace berth::schedsim
