// SPDX-License-Identifier: Apache-2.0
//
// PNG and PDF, made by the programs that are installed; tests of one that is missing are skipped.
#include <csignal>
#include <cstdint>
#include <thread>

#include "input_files.h"
#include "io/program.h"
#include "program.h"

namespace taproot::cli {
namespace {

const std::string kData = kDataFolder;
const std::string kDemo = kData + "/demo.npz --words " + kData + "/demo.txt --sentences 0";

class Pictures : public Cli {
 protected:
  // The program is run where of all renderers only this one is found.
  Result run_with(const std::string& renderer, const std::string& arguments) const {
    const std::filesystem::path folder = folder_ / "path";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    if (const auto path = find_program(renderer)) {
      // Chromium is a script that needs others; a script that calls it does as well as a link.
      std::ofstream(folder / renderer)
          << "#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin exec " << *path << " \"$@\"\n";
      std::filesystem::permissions(folder / renderer, std::filesystem::perms::owner_all);
    }
    return run_program("PATH=" + folder.string() + " " + kProgram, arguments, folder_);
  }

  void test_figures(const std::string& renderer) const;

  // How many temporary files and folders are left.
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      count += entry.path().filename().string().find("tmp-") != std::string::npos ? 1U : 0U;
    }
    return count;
  }
};

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8U | static_cast<unsigned char>(bytes.at(at + i));
  }
  return value;
}

struct Box {
  double width = 0;
  double height = 0;
};

// The size of an SVG in pixels, as its viewBox says.
Box svg_size(const std::string& svg) {
  Box box;
  const std::size_t at = svg.find("viewBox=\"0 0 ");
  EXPECT_EQ(std::sscanf(svg.substr(at + 13).c_str(), "%lf %lf", &box.width, &box.height), 2);
  return box;
}

void expect_png(const std::string& bytes, double width, double height) {
  ASSERT_TRUE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_NEAR(big_endian(bytes, 16), width, 2);
  EXPECT_NEAR(big_endian(bytes, 20), height, 2);
  EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), "IEND");
}

// Of one page, whose size is in points.
void expect_pdf(const std::string& bytes, double width, double height) {
  ASSERT_TRUE(bytes.starts_with("%PDF-"));
  EXPECT_NE(bytes.find("%%EOF", bytes.size() - 16), std::string::npos);
  const std::size_t at = bytes.find("/MediaBox");
  ASSERT_NE(at, std::string::npos);
  Box box;
  double left = -1;
  double top = -1;
  ASSERT_EQ(std::sscanf(bytes.substr(bytes.find('[', at)).c_str(), "[ %lf %lf %lf %lf", &left, &top,
                        &box.width, &box.height),
            4);
  EXPECT_NEAR(box.width, width, 2);
  EXPECT_NEAR(box.height, height, 2);
  EXPECT_EQ(bytes.find("/MediaBox", at + 1), std::string::npos) << "more than one page";
}

void Pictures::test_figures(const std::string& renderer) const {
  const Box size = svg_size(run("show " + kDemo + " --format svg").out);
  const std::string name = file("a_b#%.png");
  const Result png = run_with(renderer, "show " + kDemo + " -o " + name);
  ASSERT_EQ(png.code, 0) << png.errors;
  EXPECT_EQ(png.errors, "");
  expect_png(contents(name), 2 * size.width, 2 * size.height);
  const Result pdf = run_with(renderer, "show " + kDemo + " -o " + file("tree.pdf"));
  ASSERT_EQ(pdf.code, 0) << pdf.errors;
  expect_pdf(contents(file("tree.pdf")), 0.75 * size.width, 0.75 * size.height);
  const Result marginals = run_with(renderer, "show " + kDemo + " --marginals --format png");
  ASSERT_EQ(marginals.code, 0) << marginals.errors;
  EXPECT_TRUE(marginals.out.starts_with("\x89PNG"));
  EXPECT_NE(marginals.out, contents(name));
  EXPECT_EQ(files(), 0U);
  const Result all = run_with(renderer, "show " + kData + "/demo.npz -o " + file("all.png"));
  EXPECT_EQ(all.code, 2);
  EXPECT_NE(all.errors.find("holds one drawing"), std::string::npos) << all.errors;
  EXPECT_FALSE(std::filesystem::exists(file("all.png")));
  EXPECT_EQ(files(), 0U);
}

TEST_F(Pictures, FiguresByRsvgConvert) {
  if (!find_program("rsvg-convert")) GTEST_SKIP() << "rsvg-convert is not installed";
  test_figures("rsvg-convert");
}

TEST_F(Pictures, FiguresByChromium) {
  if (!find_program("chromium")) GTEST_SKIP() << "chromium is not installed";
  test_figures("chromium");
}

TEST_F(Pictures, ReportsAsPngAndPdf) {
  if (!find_program("chromium")) GTEST_SKIP() << "chromium is not installed";
  const Result png = run_with("chromium", "report " + kDemo + " -o " + file("r.png"));
  ASSERT_EQ(png.code, 0) << png.errors;
  // As high as the page, not as a window: sentences with more words and trees need more.
  const std::string picture = contents(file("r.png"));
  ASSERT_GT(picture.size(), 24U);
  const std::uint32_t height = big_endian(picture, 20);
  expect_png(picture, 2800, height);
  EXPECT_GT(height, 600U);
  const Result pdf = run_with("chromium", "report " + kDemo + " -o " + file("r.pdf"));
  ASSERT_EQ(pdf.code, 0) << pdf.errors;
  expect_pdf(contents(file("r.pdf")), 1050, 0.75 * (24 + 1.02 * height / 2));
  const std::string longer = "report " + kData + "/demo.npz --words " + kData +
                             "/demo.txt --sentences 22 -k 1000 -o " + file("long.");
  const Result long_png = run_with("chromium", longer + "png");
  ASSERT_EQ(long_png.code, 0) << long_png.errors;
  const std::uint32_t long_height = big_endian(contents(file("long.png")), 20);
  EXPECT_GT(long_height, height + 1000);
  ASSERT_EQ(run_with("chromium", longer + "pdf").code, 0);
  expect_pdf(contents(file("long.pdf")), 1050, 0.75 * (24 + 1.02 * long_height / 2));
  // The script had finished: the page without its sentence has 13 kB, with it 45.
  EXPECT_GT(contents(file("r.pdf")).size(), 20'000U);
  const Result two = run_with("chromium", "report " + kData + "/demo.npz -o " + file("two.pdf"));
  EXPECT_EQ(two.code, 2);
  EXPECT_NE(two.errors.find("shows one sentence, and the input has 24"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("two.pdf")));
  EXPECT_EQ(files(), 0U);
}

TEST_F(Pictures, WithoutARendererThatIsSaidBeforeAnyWork) {
  const Result show = run_with("none", "show nothing.npz -o " + file("tree.png"));
  EXPECT_EQ(show.code, 2);
  EXPECT_NE(
      show.errors.find(
          "rsvg-convert (of Debian's librsvg2-bin), chromium, chromium-browser, google-chrome, "
          "google-chrome-stable, and none"),
      std::string::npos)
      << show.errors;
  EXPECT_NE(show.errors.find("write SVG"), std::string::npos) << show.errors;
  const Result report = run_with("rsvg-convert", "report nothing.npz -o " + file("r.pdf"));
  EXPECT_EQ(report.code, 2);
  EXPECT_NE(report.errors.find(
                "programs chromium, chromium-browser, google-chrome, google-chrome-stable,"),
            std::string::npos)
      << report.errors;
  EXPECT_FALSE(std::filesystem::exists(file("tree.png")));
  EXPECT_EQ(run_with("none", "show " + kDemo + " -o " + file("tree.svg")).code, 0);
}

TEST_F(Pictures, ARendererThatFailsIsQuoted) {
  const std::filesystem::path folder = folder_ / "bad";
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "rsvg-convert") << "#!/bin/sh\necho out of paper >&2\nexit 3\n";
  std::filesystem::permissions(folder / "rsvg-convert", std::filesystem::perms::owner_all);
  const std::string program = "PATH=" + folder.string() + ":/usr/bin:/bin " + kProgram;
  const Result result = run_program(program, "show " + kDemo + " -o " + file("tree.png"), folder_);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.errors.find("rsvg-convert did not make the png: out of paper"),
            std::string::npos)
      << result.errors;
  EXPECT_FALSE(std::filesystem::exists(file("tree.png")));
  EXPECT_EQ(files(), 0U);
}

// Ctrl-C while the renderer works: nothing is left, and the shell sees the signal.
TEST_F(Pictures, AnInterruptLeavesNothingBehind) {
  const std::filesystem::path folder = folder_ / "slow";
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "rsvg-convert")
      << "#!/bin/sh\ntouch " << file("started") << "\nsleep 60\n";
  std::filesystem::permissions(folder / "rsvg-convert", std::filesystem::perms::owner_all);
  const std::string command = "PATH=" + folder.string() + ":/usr/bin:/bin exec " + kProgram +
                              " show " + kDemo + " -o " + file("tree.png");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // A shell ignores it in what it runs in the background.
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; i < 3000 && !std::filesystem::exists(file("started")); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(std::filesystem::exists(file("started")));
  EXPECT_GT(files(), 0U);
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_EQ(files(), 0U);
  EXPECT_FALSE(std::filesystem::exists(file("tree.png")));
}

}  // namespace
}  // namespace taproot::cli
