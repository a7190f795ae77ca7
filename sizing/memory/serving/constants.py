"""Constants of the serving engines that no architecture gives. Each says which measurements support it and how far they lie off.

"Cases" are rows of `sizing/data/measured_memory.json`; "residual" is the median of max(p/t, t/p) - 1 over them. "+n" counts
logs that were read but have no public address and are therefore not carried.
"""

from __future__ import annotations

from typing import Final

# vLLM: budget.
# Share of the driver-visible memory by version. 0.92 from 0.20 on: logs that do not list the option show pools that match 0.92.
UTILIZATION: Final = 0.90
UTILIZATION_FROM_020: Final = 0.92
UTILIZATION_HIGHEST: Final = (
    0.95  # beyond, the first sampler run or the graphs run out of memory (2 cases at 0.95 to 0.98)
)
DFLASH_LAYERS: Final = (
    5  # that cache every token, windowed ones too (vllm-project/vllm-ascend#9197, vllm-project/vllm#40898)
)
SWAP_SPACE_V0_GIB: Final = 4.0  # pinned RAM per card, vLLM's own default until V0 went
SHORTEST_USEFUL_TOKENS: Final = 1024
FEWEST_USEFUL_SEQUENCES: Final = 16

# vLLM: what a start-up profiles.
# Tokens of one step and sequences in flight where nothing is said, by device class (vLLM's own defaults for its server).
LARGE_DEVICE_GIB: Final = 70.0
BATCHED_TOKENS_LARGE: Final = 8192
BATCHED_TOKENS_SMALL: Final = 2048
SEQUENCES_LARGE: Final = 1024
SEQUENCES_SMALL: Final = 256
SEQUENCES_FIRST_V1: Final = 1024  # V1 of 0.8 took 1,024 on every device (vllm-project/vllm#17122), that of 0.7 256
CHUNKED_FROM_TOKENS_V0: Final = 32768
CHUNKED_FROM_RELEASE: Final = (0, 5, 4)  # before, a step had to hold the longest prompt whole

# Bytes per (sequence x vocabulary entry) of the profiled sampler: logits in fp32 and 16 bit, probabilities, masked copies.
# 14 with the Triton sampler of 0.16 and later (33 cases of 2 sources, nearly all 0.19 on H100: 1.89 GiB for 1024 x 128,256;
# residual 2 %; vllm-project/vllm#33538), 39 with the sorting sampler of V0 and of V1 before (5 cases of 4 sources, +7: 1.26 GiB
# for 256 x 128,256; residual 18 %). Dense models of 0.25 and later run on the second model runner, whose sampler works on the
# logits in place (vllm-project/vllm#44443; +2 of two sources: at most a quarter of a GiB for 256 x 151,936).
SAMPLER_BYTES: Final = 14.0
SAMPLER_BYTES_SORTING: Final = 38.8
SORTING_UNTIL: Final = (0, 16, 0)
SAMPLER_BYTES_IN_PLACE: Final = 4.0
IN_PLACE_FROM: Final = (0, 25, 0)

# Bytes of one step's activations: fused gate-up and its product (3 x width), residual, hidden, query-key-value and output
# (4 x hidden), in 16 bit. 32,768 tokens of Qwen2.5-1.5B: 2.015 GiB of 2.02 measured.
MLP_COPIES: Final = 3.0
MLP_COPIES_UNGATED: Final = 2.0
HIDDEN_COPIES: Final = 4.0
# What is alive while the sampler runs: hidden states and residual of the step (1.5 copies) and a floor of small buffers.
HIDDEN_COPIES_AT_SAMPLER: Final = 2.0
HIDDEN_COPIES_AT_SAMPLER_V0: Final = 1.0
FLOOR_GIB: Final = 0.04
# Latent attention expands its cache for prefill in chunks of 65,536 tokens.
MLA_PREFILL_TOKENS: Final = 65536
# Towers are profiled with the largest images and videos a model allows: little where images have a fixed size, gigabytes where
# resolution and video length are open. By family (the first that the family's name starts with counts): GiB, and GiB per 1,024
# of hidden size (Lingshu-32B 6.9, Qwen2.5-VL-7B 4.9).
VISION_PROFILE_GIB: Final = 0.05
VISION_PROFILE_BY_FAMILY_GIB: Final = (
    ("gemma 4", 0.3, 0.0), ("qwen2.5-omni", 1.1, 0.0), ("qwen3-omni", 1.5, 0.0), ("qwen2.5-vl", 0.0, 1.37), ("qwen2-vl", 0.0, 1.37),
    ("lingshu", 0.0, 1.37), ("ui-tars", 0.0, 1.37), ("olmocr", 0.0, 1.37), ("qwen3-vl", 1.1, 0.0), ("qwen3.5", 1.1, 0.0),
    ("qwen3.6", 1.1, 0.0), ("qwen3.8", 1.1, 0.0),
)  # fmt: skip
# V0 fills its longest prompt with one image, of 16,384 tokens at most, and video for the rest, and encodes one after the other: bytes of
# the pixels of all tokens, and of the encoder's activations for each token of the larger (Qwen2-VL line: 4.1 GiB of 32,768 tokens,
# 20.9 of 128,000; 2 cases, residual 9 %).
VISION_V0_IMAGE_TOKENS: Final = 16384
VISION_V0_PIXEL_BYTES: Final = 28_000
VISION_V0_ENCODER_BYTES: Final = 185_000
VISION_PROFILE_V0_GIB: Final = 0.3
# Gemma 4 profiles as many encoder tokens as a step has: 2.4 GiB at 16,384 (+1).
VISION_GIB_PER_STEP_TOKEN_GEMMA4: Final = 2.4 / 16384
AUDIO_PROFILE_GEMMA4_GIB: Final = 1.6  # its models with per-layer embeddings hear, too: +3 of one source
# Encoder-decoder models profile every sequence with a full encoder input: 2.8 copies of its hidden states (Whisper; 2 cases), and for
# an image 24,000 elements a patch (Llama 3.2 Vision keeps five of its tower's states beside both halves of its MLP; 1 case, 1 %).
ENCODER_COPIES: Final = 2.8
ENCODER_POSITIONS_IMAGE: Final = 6404  # four tiles of 1,601 patches (Llama 3.2 Vision)
ENCODER_ELEMENTS_IMAGE: Final = 24_000

# vLLM: outside torch.
# Context and libraries on one card, and what communication adds: NCCL and custom all-reduce, symmetric memory over NVLink from
# 0.14. One card: 24 cases of 2 sources from 0.14 on, residual 4 %; 4 of 4 before, 43 %. Several: 12 of 2, 1 %; 4 of 3, 100 %.
NON_TORCH_GIB: Final = 0.13
NON_TORCH_FROM_014_GIB: Final = 0.25
NON_TORCH_FROM_027_GIB: Final = 0.56  # +2 of two sources; from then on the difference of two readings of the driver
NON_TORCH_ROCM_GIB: Final = 0.5  # one Radeon card, its BLAS workspace included: 7 cases of one collection
NON_TORCH_PARALLEL_GIB: Final = 0.55
NON_TORCH_PARALLEL_V1_GIB: Final = 1.2  # V1 on NVIDIA cards before 0.14: 4 cases of 3 sources, 1.0 to 1.6
NON_TORCH_NVLINK_FROM_014_GIB: Final = 2.1
NON_TORCH_PCIE_FROM_014_GIB: Final = 0.8
NON_TORCH_UNIFIED_GIB: Final = 1.0
NON_TORCH_UNIFIED_PARALLEL_GIB: Final = 5.7  # two GB10 machines over their network cards: 2 cases of 1 source, +1
NON_TORCH_INTEL_GIB: Final = 3.3  # +3 of one source
NON_TORCH_ASCEND_GIB: Final = 0.08  # +2 (one in vllm-project/vllm-ascend#8289)
# Radeon cards lost this much to the Triton attention of ROCm builds before 0.12 (6 cases of one collection, +1).
RADEON_EARLY_GIB: Final = 2.1
RADEON_EARLY_UNTIL: Final = (0, 12, 0)
# Context and communication buffers that lie outside the budget whatever it is.
OUTSIDE_CONTEXT_GIB: Final = 0.5
OUTSIDE_CONTEXT_PARALLEL_GIB: Final = 1.0

# vLLM: CUDA graphs.
GRAPHS_INSIDE_FROM: Final = (0, 21, 0)
# 0.87 GiB for 28 layers and 51 sizes at TP 1, 0.71 at TP 2, 0.64 at TP 4 (Qwen2.5-7B): the fourth root of the degree.
# Dense 28 cases of 6 sources, residual 25 %; experts 6 of 4, 39 %; gpt-oss 8 of 5, 93 %; ROCm 14 of 14, 24 %.
GRAPH_GIB_PER_LAYER_AND_SIZE: Final = 0.00045
GRAPH_GIB_PER_LAYER_AND_SIZE_EXPERTS: Final = 0.0006
GRAPH_GIB_PER_LAYER_AND_SIZE_GPT_OSS: Final = 0.00095  # 1.84 GiB at TP 1, 1.55 at TP 2
GRAPH_GIB_PER_LAYER_AND_SIZE_ROCM: Final = 0.0018
# What vLLM subtracts beforehand from 0.21 on: 1 to 3 times what graphs then take (4 cases, +6).
GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE: Final = 0.00036
GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE_EXPERTS: Final = 0.0010
GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE_ROCM: Final = 0.0024
GRAPHS_CHARGE_STEP_FROM: Final = (0, 26, 0)
STEP_CHARGED_SHARE: Final = 0.2
GRAPH_FLOOR_GIB: Final = 0.03

# Other engines.
ROCM_WORKSPACE_GIB: Final = (
    0.07  # ROCm counts its BLAS workspace among the weights: 8B 15.06 against 14.99 (4 cases, +1)
)
SGLANG_WEIGHTS_EXTRA_GIB: Final = 0.14  # SGLang reports free memory before and after loading (+2)
TENSORRT_FREE_SHARE: Final = 0.9
LMDEPLOY_FREE_SHARE: Final = 0.8
TGI_SHARE: Final = 0.9  # its TGI_WIGGLE_ROOM
# TGI warms up with one prompt of all tokens of a step and asks for the probability of each of them (`prefill_logprobs` in its router):
# bytes per token and vocabulary entry, and what else the warm-up takes (+2: Llama 3 8B and Mistral 7B on an A10G).
TGI_STEP_TOKENS: Final = 4096
TGI_PROMPT_BYTES: Final = 5.2
TGI_WARM_UP_GIB: Final = 1.4

# How far off.
# Half width of the 80 % range of what remains for the cache: shares of weights and of the rest, and a floor. 91 % of the 78
# pools whose logs state every driver lie inside, 78 % of those outside the two large collections.
SPREAD_OF_WEIGHTS: Final = 0.004
SPREAD_OF_REST: Final = 0.25
SPREAD_FLOOR_GIB: Final = 0.1
SPREAD_UNIFIED_GIB: Final = 4.0
SPREAD_OUTSIDE: Final = 0.3
SPREAD_OF_RAM: Final = 0.02
