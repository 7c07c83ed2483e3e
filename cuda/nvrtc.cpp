#include "cuda/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>

#include "cuda/runtime_headers.hpp"

namespace gorgo::gpu::nvrtc {
namespace {

/// All that kernels include of the standard library.
constexpr const char* kIntegers = R"(#pragma once
namespace std {
using int8_t = signed char;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
}  // namespace std
)";

class Library {
 public:
  Library() {
    for (const std::string& path : candidates()) {
      if (handle_ == nullptr) handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (handle_ == nullptr) {
      problem_ = "there is no libnvrtc.so." + std::to_string(kMajor);
      return;
    }
    const bool complete =
        bind(version, "nvrtcVersion") && bind(create, "nvrtcCreateProgram") &&
        bind(destroy, "nvrtcDestroyProgram") && bind(add, "nvrtcAddNameExpression") &&
        bind(compile, "nvrtcCompileProgram") && bind(name, "nvrtcGetLoweredName") &&
        bind(log_size, "nvrtcGetProgramLogSize") && bind(log, "nvrtcGetProgramLog") &&
        bind(cubin_size, "nvrtcGetCUBINSize") && bind(cubin, "nvrtcGetCUBIN");
    if (!complete) problem_ = "libnvrtc lacks what is needed of it";
  }

  const std::string& problem() const { return problem_; }

  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcAddNameExpression) add = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetLoweredName) name = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;

 private:
  static constexpr int kMajor = GORGO_CUDA_MAJOR_VERSION;

  /// Names the library as the loader looks for it, then in folders of the toolkit.
  static std::vector<std::string> candidates() {
    const std::string name = "libnvrtc.so." + std::to_string(kMajor);
    std::vector<std::string> all = {name, "/usr/local/cuda/lib64/" + name};
    std::string folders = GORGO_CUDA_LIBRARIES;
    for (std::size_t begin = 0; begin < folders.size();) {
      const std::size_t end = std::min(folders.find(':', begin), folders.size());
      all.push_back(folders.substr(begin, end - begin) + "/" + name);
      begin = end + 1;
    }
    return all;
  }

  template <class Function>
  bool bind(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
    return function != nullptr;
  }

  void* handle_ = nullptr;  // lives as long as the process
  std::string problem_;
};

const Library& library() {
  static const Library library;
  return library;
}

/// What went wrong, with what the compiler wrote.
std::string problem_of(nvrtcProgram program, const char* what) {
  std::size_t size = 0;
  library().log_size(program, &size);
  std::string log(size, '\0');
  if (size > 0) library().log(program, log.data());
  return std::string(what) + ": " + log.c_str();
}

struct Destroy {
  void operator()(nvrtcProgram program) const { library().destroy(&program); }
};
using Program = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, Destroy>;

Program program_of(const std::string& text) {
  std::vector<const char*> names = {"cstdint"}, texts = {kIntegers};
  for (const RuntimeHeader& header : runtime_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  nvrtcProgram program = nullptr;
  library().create(&program, text.c_str(), "shape.cu", static_cast<int>(names.size()), texts.data(),
                   names.data());
  return Program(program);
}

}  // namespace

std::string version() {
  if (!library().problem().empty()) return "";
  int major = 0, minor = 0;
  library().version(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string unavailable() { return library().problem(); }

Compiled compile(const std::string& text, std::span<const std::string> kernels, int capability) {
  if (!library().problem().empty()) return {.cubin = "", .names = {}, .problem = unavailable()};
  const Program program = program_of(text);
  if (!program) return {.cubin = "", .names = {}, .problem = "NVRTC takes no program"};
  for (const std::string& kernel : kernels) library().add(program.get(), kernel.c_str());
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
  // language.md §5: every floating-point operation rounds once.
  const std::array options = {architecture.c_str(), "--std=c++20", "--fmad=false",
                              "--device-int128", "-D__extension__="};
  Compiled compiled;
  if (library().compile(program.get(), static_cast<int>(options.size()), options.data()) !=
      NVRTC_SUCCESS) {
    compiled.problem = problem_of(program.get(), "compiling a shape");
    return compiled;
  }
  for (const std::string& kernel : kernels) {
    const char* name = nullptr;
    if (library().name(program.get(), kernel.c_str(), &name) != NVRTC_SUCCESS) {
      compiled.problem = "there is no kernel " + kernel;
      return compiled;
    }
    compiled.names.emplace_back(name);
  }
  std::size_t size = 0;
  library().cubin_size(program.get(), &size);
  compiled.cubin.resize(size);
  if (library().cubin(program.get(), compiled.cubin.data()) != NVRTC_SUCCESS) {
    compiled.cubin.clear();
    compiled.problem = "NVRTC gives no machine code";
  }
  return compiled;
}

}  // namespace gorgo::gpu::nvrtc
