package meaning

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// resourceErrors are errors about memory, processes, GPUs, and the workers of a distributed program.
var resourceErrors = []errorRow{
	{
		kind: ErrorOutOfGPUMemory,
		patterns: []errorPattern{
			{"out of memory", lazyregexp.New(`(?i)\b(?:cuda|hip)\b[^:]*(?:: )?out of memory|\bgpu\w*\b.*\bout of memory\b|\bout of memory\b.*\bgpu\b`), nil},
			{"cudaerrormemoryallocation|cuda_error_out_of_memory|oom when allocating tensor |xlaruntimeerror: resource_exhausted: out of memory|find a valid cudnn algorithm|_status_alloc_failed", lazyregexp.New(`\bcudaErrorMemoryAllocation\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|OOM when allocating tensor .*\bdevice:GPU|XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory|find a valid cuDNN algorithm|CU(?:BLAS|DNN)_STATUS_ALLOC_FAILED`), nil},
		},
		brief:  "out of GPU memory",
		text:   "it ran out of GPU memory{: %s|}",
		advice: "make the program use less GPU memory, for instance with smaller batches, or use a GPU with more",
	},
	{
		kind: ErrorNoGPU,
		patterns: []errorPattern{
			{"cuda", lazyregexp.New(`(?i)(no cuda-capable device is detected|cuda driver version is insufficient for cuda runtime version|torch not compiled with cuda enabled|libcuda\.so\S*: cannot open shared object file)`), nil},
			{"gpu", lazyregexp.New(`(?i:(no (?:cuda|hip) gpus are available))|(Duplicate GPU detected)|(only supports \w+ GPUs or newer)`), nil},
			{"nvidia", lazyregexp.New(`(libnvidia-[\w-]+\.so\S*: cannot open shared object file)|(?i:found (no nvidia driver on your system)|nvidia driver on your system is (too old(?: \(found version \d+\))?))|it (couldn't communicate with the NVIDIA driver)`), nil},
			{"device", lazyregexp.New(`(invalid device ordinal)|(Failed to infer device type)|was (explicitly assigned to /device:GPU:\d+)|CUDA device but (torch\.cuda\.is_available\(\) is False)|(no kernel image is available for execution on the device)`), nil}, // vLLM
			{"initialize", lazyregexp.New(`Error 802: (system not yet initialized)|(Neuron Runtime could not be initialized)|(Failed to initialize NVML: .+)$`), nil},
		},
		casual: true,
		brief:  "no usable GPU",
		describe: func(subject string) string {
			return wording.Join(": ", gpuCaseOf(subject).text, subject)
		},
		advise: gpuAdvice,
	},
	{
		kind:     ErrorCollective,
		patterns: []errorPattern{{"system|remote|internal|collective operation timeout|rendezvous|connection closed by peer [|unable to reliably start one or more daemons|no socket interface found|waiting for clients. |barrier timed out|actor is dead because its node has died", lazyregexp.New(`\b(nccl(?:System|Remote|Internal)Error)\b|Watchdog caught (collective operation timeout)(?:.*OpType=(\w+))?|\b(Rendezvous(?:Timeout|Connection|Closed)Error)\b|Connection closed by peer \[([^\]]+)\]|ORTE has lost communication with a remote daemon|ORTE was (unable to reliably start one or more daemons)|(no socket interface found)|waiting for clients\. (\d+/\d+ clients joined)|(Barrier timed out)|(actor is dead because its node has died)`), nil}}, // NCCL, PyTorch, JAX, Ray
		answer:   lazyregexp.New(`Remote daemon: \S+ on node (\S+)`),
		isLate:   true,
		brief:    "workers apart",
		describe: func(subject string) string {
			if isWorker(subject) {
				return "it lost contact with worker " + subject
			}
			return "it lost contact with the other workers" + wording.InBrackets(subject)
		},
		advise: func(e *KnownError, c Container) string {
			if e.Subject == "no socket interface found" {
				return fmt.Sprintf("set NCCL_SOCKET_IFNAME in env of container %s to the network interface of the pod (usually eth0), or leave it out: NCCL found none of the name that it looks for", c.Name)
			}
			if isWorker(e.Subject) {
				return fmt.Sprintf("look at pod %s and its node, which may have failed or stalled first, and at the network between them", e.Subject)
			}
			return "look at the other pods of the Job, one of which may have failed or stalled first, and at the network between them"
		},
	},
	{
		kind: ErrorProcessLimit,
		patterns: []errorPattern{
			{"resource temporarily unavailable", lazyregexp.New(`\b(?:fork|pthread_create)\b.*: Resource temporarily unavailable`), nil},
			{"thread", lazyregexp.New(`can't start new thread|unable to create (?:new )?native thread|failed to create new OS thread|pthread_create failed \((EPERM)\)`), nil},
		},
		leads:  []ErrorKind{ErrorOutOfMemory},
		brief:  "too many threads",
		text:   "{the container runtime of its node does not let it start threads (%s)|it could start no more processes or threads}",
		advice: "{update the container runtime of the node (runc, libseccomp, Docker), whose seccomp profile is most likely older than the C library of the image: it answers clone3 with %s; or use an image with an older base|make the program start fewer threads or processes (such as OMP_NUM_THREADS), or raise the kubelet's limit on them (podPidsLimit)}",
	},
	{
		kind:     ErrorBus,
		patterns: []errorPattern{{"bus", lazyregexp.New(`\b(Bus error(?: \(core dumped\))?)|(Signal 7 \(SIGBUS\)) received by PID`), nil}},
		yieldsTo: []ErrorKind{ErrorSharedMemory},
		brief:    "bus error",
		text:     "{%s|Bus error}",
		advice:   "give the container the huge pages that it uses (limit hugepages-2Mi) or turn them off in the program, and check the size of /dev/shm and of volumes that it maps",
	},
	{
		kind: ErrorOutOfMemory,
		patterns: []errorPattern{
			{"memory", lazyregexp.New(`\bOutOfMemoryError(?:: (.+))?$|\bOutOfMemoryException\b|(?i:cannot allocate memory|failed to allocate memory)|\b([A-Z]\w+ heap out of memory)|(?:^|[:\])>-] ?)[oO]ut of memory(?:[.!:(,]|$| \(| error| trying| allocating)|(?:^|[\s._])_?(?:Array)?MemoryError\b|insufficient memory for the Java Runtime|(Allowed memory size of \d+ bytes exhausted)|(os::commit_memory)\(.*\bfailed`), nil},
			{"cannot allocate |std::bad_alloc|, hresult: 0x8007000e|gc heap initialization failed with error 0x8007000e|could not reserve enough space for ", lazyregexp.New(`cannot allocate (vector of size .+)$|\bstd::bad_alloc\b|(?:GC heap initialization failed|CoreCLR), HRESULT: 0x8007000E|GC heap initialization failed with error 0x8007000E|(Could not reserve enough space for .*?object heap)`), nil},
		},
		yieldsTo: []ErrorKind{ErrorProcessLimit, ErrorOutOfGPUMemory},
		answer:   lazyregexp.New(`^\s+at \S*(` + kafkaReceive + `)\(`),
		brief:    "out of memory",
		describe: func(subject string) string {
			if strings.HasPrefix(subject, kafkaReceive) {
				return "its Kafka client reads an answer with TLS as plain text, and runs out of heap"
			}
			return wording.Join(": ", "it ran out of memory", subject)
		},
		advise: memoryAdvice,
	},
	{
		kind: ErrorProcessKilled,
		patterns: []errorPattern{
			{"killed", lazyregexp.New(`line \d+:\s+\d+ Killed\s+(\S+(?: [^\s"$-]\S*)?)|^Killed$|(?:([\w./-]+): )?signal: killed|Killed signal terminated program (\S+)|internal compiler error: Killed \(program (\S+)\)`), nil}, // of a shell that runs a command line
			{"sigkill", lazyregexp.New("(?:`([\\w./-]+) [^`]*` )?\\(signal: 9, SIGKILL|workers are \\{.*SIGKILL|died with <Signals\\.SIGKILL"), nil},
			{"return| exited with exit code 137|process in the process pool was terminated abruptly| terminated with an error exit status (137)| disappeared unexpectedly", lazyregexp.New(`(?i:return(?:ed a non-zero exit| |ed with exit |ed with return )code (?:-9\b|Negsignal\.SIGKILL))|(?i:\b(executor) with id \d+ exited with exit code 137)|process in the process pool was terminated abruptly|Process .(\w[\w:]*).* terminated with an error exit status \(137\)|(Gradle build daemon) disappeared unexpectedly`), nil}, // Airflow, Spark
			{"signal", lazyregexp.New(`(?i)(?:process (rank \d+)\b(?:.*( on node \S+))?.*)?\b(?:exited (?:prematurely: |with |on )?|killed by |terminated by |failed with )signal[: ]*["']?(?:9 \((?:sig)?kill(?:ed)?\)|sigkill\b|killed\b)`), nil},
			{"sigkill", lazyregexp.New(`(?i)signal 9 \(SIGKILL\) received by PID \d+|exit(?:ed with)? signal SIGKILL|failed with SIGKILL|was sent SIGKILL! Perhaps out of memory`), nil},
		},
		yieldsTo: []ErrorKind{ErrorOutOfMemory},
		leads:    []ErrorKind{ErrorFileMissing, ErrorCommandNotFound},
		brief:    "process killed",
		text:     "{its process %s|one of its processes} was killed, usually for lack of memory",
		read:     func(e *KnownError, _ string) { e.Subject = strings.Replace(e.Subject, ": on", " on", 1) },
		advise: func(e *KnownError, c Container) string {
			if _, worker, found := strings.Cut(e.Subject, " on node "); found {
				return fmt.Sprintf("look at pod %s, whose container may have run out of memory: raise its memory limit, or make it use less", worker)
			}
			switch {
			case e.Subject == "executor":
				return "raise the memory of Spark's executors (spark.executor.memoryOverhead, spark.executor.memory), or give them fewer cores or smaller partitions"
			case c.MemoryLimit == "":
				return fmt.Sprintf("give container %s a memory request and a memory limit, or make it use less: the node may have run out of memory", c.Name)
			}
			return fmt.Sprintf("raise the memory limit of container %s, which is %s, or make it use less (such as fewer parallel processes)", c.Name, c.MemoryLimit)
		},
	},
	{
		kind: ErrorHeapSize,
		patterns: []errorPattern{
			{"must be at least", lazyregexp.New(`\b((?:System|Executor) memory \d+\w* must be at least \d+)`), nil},
			{"heap", lazyregexp.New(`((?:Initial|Minimum) heap size set to a larger value than the maximum heap size|Too small (?:initial|maximum) heap|Invalid (?:initial|maximum) heap size: \S+)|(initial heap size \[\d+\] not equal to maximum heap size \[\d+\])`), nil},
		},
		brief: "wrong heap size",
		describe: func(subject string) string {
			text := "the size of its heap is wrong"
			if strings.Contains(subject, "must be at least") || strings.Contains(subject, "Too small") {
				text = "its heap is too small"
			}
			return wording.Join(": ", text, subject)
		},
		advise: func(e *KnownError, c Container) string {
			for part, option := range map[string]string{"System memory": "--driver-memory (spark.driver.memory)", "Executor memory": "--executor-memory (spark.executor.memory)"} { // of Spark
				if strings.HasPrefix(e.Subject, part) {
					return fmt.Sprintf("raise %s of container %s (%s)", option, c.Name, javaHeap(c))
				}
			}
			return fmt.Sprintf("set the heap of container %s (%s)", c.Name, javaHeap(c))
		},
	},
}

// isWorker reports whether the subject of an error is the name of the pod of a worker.
func isWorker(subject string) bool {
	return strings.Contains(subject, "-") && !strings.ContainsAny(subject, " :")
}

// kafkaReceive is where a Kafka client reads the size of an answer; of a listener with TLS, it takes the first bytes of an alert for that.
const kafkaReceive = "NetworkReceive.readFrom"

// memoryAdvice names the limit of the program that ran out of memory: its runtime may have one of its own.
func memoryAdvice(e *KnownError, c Container) string {
	limit := prefixed(", which is ", c.MemoryLimit)
	switch {
	case strings.HasPrefix(e.Subject, kafkaReceive):
		return fmt.Sprintf("set security.protocol of the Kafka client to SSL or SASL_SSL, with what that needs, in %s, or have it use a listener without TLS (%s): memory is most likely not what it lacks", c.configurationText(), cmp.Or(c.addresses(), c.argumentsText()))
	case strings.Contains(e.Subject, "Java heap"), strings.Contains(e.Subject, "GC overhead"):
		return fmt.Sprintf("give the heap of container %s more memory (%s), or make the program use less", c.Name, javaHeap(c))
	case strings.HasPrefix(e.Subject, "Metaspace"):
		return fmt.Sprintf("raise -XX:MaxMetaspaceSize of container %s, or make the program load fewer classes", c.Name)
	case strings.Contains(e.Subject, "irect buffer memory"):
		return fmt.Sprintf("raise -XX:MaxDirectMemorySize of container %s below its memory limit%s, or make the program use fewer buffers", c.Name, limit)
	case strings.Contains(e.Subject, "JavaScript heap"):
		return fmt.Sprintf("raise the heap of Node.js in container %s (NODE_OPTIONS=--max-old-space-size, in MiB) below its memory limit%s, or make the program use less", c.Name, limit)
	case strings.Contains(e.Subject, "Allowed memory size"):
		return fmt.Sprintf("raise memory_limit of PHP in container %s, or make the program use less", c.Name)
	case strings.Contains(e.Subject, "object heap"), strings.Contains(e.Subject, "commit_memory"):
		return fmt.Sprintf("set the heap of container %s (-Xmx) below its memory limit%s, or raise that limit", c.Name, limit)
	}
	return fmt.Sprintf("raise the memory limit of container %s%s, or that of its program (such as the heap size), or make it use less", c.Name, limit)
}

// javaHeap says how to set the heap of a Java program.
func javaHeap(c Container) string {
	return "-Xmx, or -XX:MaxRAMPercentage in JAVA_TOOL_OPTIONS" + prefixed(": without them it is a quarter of the memory limit, which is ", c.MemoryLimit)
}
