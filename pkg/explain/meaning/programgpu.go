package meaning

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// gpuCase is why a program cannot use a GPU: what its error has in any case, the meaning, and advice, "" for that by the limits of the container.
type gpuCase struct{ part, text, advice string }

// perGPU is advice on more processes than GPUs.
const perGPU = "start no more processes in container {container} than it has GPUs (its limits have {devices}), such as with --nproc_per_node, or request more"

var gpuCases = []gpuCase{
	{"kernel image", "its program is not built for the GPU of its node", "use an image for container {container} that is built for the GPU of {node} (its compute capability), or have its pods run on nodes with another GPU (nodeSelector nvidia.com/gpu.product); the image is {image}"},
	{"or newer", "its program needs a newer GPU than that of its node", "have the pods of container {container} run on nodes with a newer GPU (nodeSelector nvidia.com/gpu.product), or turn off what needs it"},
	{"too old", olderDriver, newerDriver},
	{"is insufficient", olderDriver, newerDriver},
	{"library version mismatch", "its node still runs the NVIDIA driver before an update", "have {node} drained and restarted, which loads its new NVIDIA driver, or use an image without libraries of the driver"},
	{"unknown error", "its container lost its GPUs", "run the pod again; if that comes back, update NVIDIA's Container Toolkit on {node}: a systemctl daemon-reload there takes the GPUs from containers that run"},
	{"not yet initialized", "the GPUs of its node are not ready", "look at nvidia-fabricmanager on {node}: GPUs with NVSwitch need it to run, in the version of the driver"},
	{"device ordinal", "it asks for a GPU that its container does not have", perGPU},
	{"duplicate gpu", "several of its processes use the same GPU", perGPU},
	{"not compiled with", "its PyTorch is built without CUDA", "use an image for container {container} whose PyTorch is built with CUDA; its image is {image}"},
	{".so", "it cannot load the library of the GPU driver", ""},
	{"", "it found no GPU that it can use", ""},
}

const (
	olderDriver = "the NVIDIA driver of its node does not fit its CUDA"
	newerDriver = "use an image for container {container} with an older CUDA, or have the NVIDIA driver of {node} updated; the image is {image}"
)

// gpuCaseOf returns the case of the subject of an error.
func gpuCaseOf(subject string) *gpuCase {
	lower := strings.ToLower(subject)
	return lists.First(gpuCases, func(g *gpuCase) bool { return strings.Contains(lower, g.part) })
}

// ofGPU matches the names of GPUs and of other accelerators among devices.
var ofGPU = lazyregexp.New(`(?i)gpu|nvidia|/mig-|neuron|gaudi|tpu|npu|resource claim`)

// devicesText names the GPUs in the limits of the container; "no GPU" for none.
func (c *Container) devicesText() string {
	var all []string
	for _, device := range c.Devices {
		if ofGPU.MatchString(device) {
			all = append(all, device)
		}
	}
	if len(all) == 0 {
		return "no GPU"
	}
	return wording.Enumerate(all, "and")
}

// nodeText names the node of the pod.
func (c *Container) nodeText() string {
	return cmp.Or(prefixed("node ", c.Node), "the node of the pod")
}

// gpuAdvice says where a GPU, or the library of its driver, comes from.
func gpuAdvice(e *KnownError, c Container) string {
	if of := gpuCaseOf(e.Subject); of.advice != "" {
		return wording.Insert(of.advice, "{container}", c.Name, "{image}", c.Image, "{node}", c.nodeText(), "{devices}", c.devicesText())
	}
	gpu, runtime := "nvidia.com/gpu", "NVIDIA's runtime (Container Toolkit, or runtimeClassName nvidia)"
	switch lower := strings.ToLower(e.Subject); {
	case strings.Contains(lower, "hip"):
		gpu, runtime = "amd.com/gpu", "AMD's driver"
	case strings.Contains(lower, "neuron"):
		gpu, runtime = "aws.amazon.com/neuron", "the Neuron driver"
	}
	text := fmt.Sprintf("request a GPU for container %s in its limits (such as %s: 1), as the template has none; it is then added with the library of its driver by %s on its node", c.Name, gpu, runtime)
	if devices := c.devicesText(); devices != "no GPU" {
		text = fmt.Sprintf("container %s has %s in its limits: check %s and the device plugin on %s, which add the GPU and the library of its driver", c.Name, devices, runtime, c.nodeText())
	}
	for _, name := range []string{"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"} {
		if v := c.variable(name); v != nil {
			text += fmt.Sprintf("; or leave out variable %s (%s), which hides all other GPUs", name, wording.Quoted(v.Value))
		}
	}
	for i := range c.Mounts {
		if m := &c.Mounts[i]; m.Directory != "" && strings.Contains(m.Directory, "nvidia") && !strings.HasSuffix(m.Directory, "/bin") {
			return text + fmt.Sprintf("; if the library is to come from %s of the node, check whether it is there, and whether LD_LIBRARY_PATH of container %s has %s", m.Directory, c.Name, m.Path)
		}
	}
	return text
}

func modelText(subject string) string {
	if noHost.MatchString(subject) {
		return "the name of its model is missing: it asks Hugging Face for “" + subject + "”"
	}
	return "Hugging Face has no " + subject + ", or does not show it without a token"
}

// modelAdvice says where the name of a model and the token for it come from.
func modelAdvice(e *KnownError, c Container) string {
	place := c.sourceOf([]string{e.Subject})
	if noHost.MatchString(e.Subject) {
		return "give the program the name of its model, which it may have from " + place
	}
	token := "a token that may see it, in variable HF_TOKEN from a Secret"
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN"} {
		if v := c.variable(name); v != nil {
			token = "a token that may see it: " + c.placeOf(v)
		}
	}
	return fmt.Sprintf("correct the name %s in %s; or, if it is private, give the program %s", e.Subject, place, token)
}
