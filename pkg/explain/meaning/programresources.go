package meaning

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// resourceErrors are errors about memory, processes, GPUs, and the workers of a distributed program.
var resourceErrors = []errorRow{
	{
		kind: ErrorOutOfGPUMemory,
		patterns: []errorPattern{
			{"out of memory", lazyregexp.New(`(?i)\b(?:cuda|hip)\b[^:]*(?:: )?out of memory`), nil},
			{"cuda", lazyregexp.New(`\bcudaErrorMemoryAllocation\b|\bCUDA_ERROR_OUT_OF_MEMORY\b`), nil},
			{"oom when allocating", lazyregexp.New(`OOM when allocating tensor .*\bdevice:GPU`), nil},
		},
		brief:  "out of GPU memory",
		named:  "it ran out of GPU memory: %s",
		text:   "it ran out of GPU memory",
		advice: "make the program use less GPU memory, for instance with smaller batches, or use a GPU with more",
	},
	{
		kind: ErrorNoGPU,
		patterns: []errorPattern{
			{"cuda", lazyregexp.New(`(?i)(no cuda-capable device is detected|no cuda gpus are available|cuda driver version is insufficient for cuda runtime version|libcuda\.so\S*: cannot open shared object file)`), nil},
			{"no nvidia driver", lazyregexp.New(`(?i)found (no nvidia driver on your system)`), nil},
			{"no kernel image", lazyregexp.New(`(no kernel image is available for execution on the device)`), nil},
			{"initialize nvml", lazyregexp.New(`(Failed to initialize NVML: .+)$`), nil},
			{"nvidia-smi has failed", lazyregexp.New(`it (couldn't communicate with the NVIDIA driver)`), nil},
		},
		casual: true,
		brief:  "no usable GPU",
		named:  "it found no GPU that it can use: %s",
		text:   "it found no GPU that it can use",
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("check that container %s requests a GPU (resources.limits, such as nvidia.com/gpu), and that its image is built for the driver and the GPUs of the node (image %s)", c.Name, c.Image)
		},
	},
	{
		kind: ErrorGPUFault,
		patterns: []errorPattern{
			{"ecc error", lazyregexp.New(`(uncorrectable ECC error encountered)`), nil},
		},
		brief:  "GPU fault",
		named:  "its GPU is faulty: %s",
		text:   "its GPU is faulty",
		advice: "run the pod on another node, and check the GPUs of its node",
	},
	{
		kind: ErrorCollective,
		patterns: []errorPattern{
			{"nccl", lazyregexp.New(`\b(nccl(?:System|Remote|Internal)Error)\b`), nil},
			{"collective operation timeout", lazyregexp.New(`Watchdog caught (collective operation timeout)(?:.*OpType=(\w+))?`), nil},
			{"rendezvous", lazyregexp.New(`\b(Rendezvous(?:Timeout|Connection|Closed)Error)\b`), nil},
			{"connection closed by peer", lazyregexp.New(`Connection closed by peer \[([^\]]+)\]`), nil},
			{"orte was unable", lazyregexp.New(`ORTE was (unable to reliably start one or more daemons)`), nil},
		},
		brief:  "workers apart",
		named:  "it lost contact with the other workers (%s)",
		text:   "it lost contact with the other workers",
		advice: "look at the other pods of the Job, one of which may have failed or stalled first, and at the network between them",
	},
	{
		kind: ErrorProcessLimit,
		patterns: []errorPattern{
			{"resource temporarily unavailable", lazyregexp.New(`\b(?:fork|pthread_create)\b.*: Resource temporarily unavailable`), nil},
			{"start new thread", lazyregexp.New(`can't start new thread`), nil},
			{"native thread", lazyregexp.New(`unable to create (?:new )?native thread`), nil},
		},
		brief:  "too many threads",
		text:   "it could start no more processes or threads",
		advice: "make the program start fewer threads or processes (such as OMP_NUM_THREADS), or raise the kubelet's limit on them (podPidsLimit)",
	},
	{
		kind: ErrorOutOfMemory,
		patterns: []errorPattern{
			{"outofmemory", lazyregexp.New(`\bOutOfMemoryError(?:: (.+))?$|\bOutOfMemoryException\b`), nil},
			{"allocate memory", lazyregexp.New(`(?i)cannot allocate memory|failed to allocate memory`), nil},
			{"allocate vector", lazyregexp.New(`cannot allocate (vector of size .+)$`), nil},
			{"heap out of memory", lazyregexp.New(`(JavaScript heap out of memory)`), nil},
			{"memoryerror", lazyregexp.New(`(?:^|[\s._])_?(?:Array)?MemoryError\b`), nil},
			{"bad_alloc", lazyregexp.New(`\bstd::bad_alloc\b`), nil},
			{"runtime: out of memory", lazyregexp.New(`\bruntime: out of memory`), nil},
			{"insufficient memory", lazyregexp.New(`insufficient memory for the Java Runtime`), nil},
			{"allowed memory size", lazyregexp.New(`(Allowed memory size of \d+ bytes exhausted)`), nil},
		},
		yieldsTo: []ErrorKind{ErrorProcessLimit, ErrorOutOfGPUMemory},
		brief:    "out of memory",
		named:    "it ran out of memory: %s",
		text:     "it ran out of memory",
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("raise the memory limit of container %s, or that of its program (such as the heap size), or make it use less", c.Name)
		},
	},
}
