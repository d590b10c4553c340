// Builds the mask of a draft tree on the GPU.
#pragma once
