/* SPDX-License-Identifier: Apache-2.0 */
/* One step of bodies that attract each other, a tile of them at a time in shared memory. */
#define TILE 128

extern "C" __global__ void nbody_step(const float4 *before, float4 *after, float3 *speed, int n, float dt)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? before[i] : make_float4(0, 0, 0, 0);
    float3 pull = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += TILE) {
        int other = start + threadIdx.x;
        tile[threadIdx.x] = other < n ? before[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < TILE; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
            float weight = tile[k].w * inverse * inverse * inverse;
            pull.x += dx * weight;
            pull.y += dy * weight;
            pull.z += dz * weight;
        }
        __syncthreads();
    }
    if (i >= n)
        return;
    float3 v = speed[i];
    v.x += pull.x * dt;
    v.y += pull.y * dt;
    v.z += pull.z * dt;
    speed[i] = v;
    after[i] = make_float4(me.x + v.x * dt, me.y + v.y * dt, me.z + v.z * dt, me.w);
}
