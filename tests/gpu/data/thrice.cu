// SPDX-License-Identifier: Apache-2.0
// What axpb.cu links.
extern "C" __device__ float thrice(float x)
{
    return x * 3.f;
}
