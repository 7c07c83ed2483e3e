#include "break_gpu.hpp"

namespace gorgo::testing {
namespace {

__global__ void trap() { asm volatile("trap;"); }

}  // namespace

void trap_gpu() {
  trap<<<1, 1>>>();
  cudaDeviceSynchronize();
}

AllMemory::AllMemory() {
  for (std::size_t size = std::size_t{1} << 36; size >= std::size_t{1} << 16; size /= 2) {
    void* block = nullptr;
    while (cudaMalloc(&block, size) == cudaSuccess) blocks_.push_back(block);
  }
  cudaGetLastError();  // that there is no more is no error
}

AllMemory::~AllMemory() {
  for (void* block : blocks_) cudaFree(block);
}

}  // namespace gorgo::testing
