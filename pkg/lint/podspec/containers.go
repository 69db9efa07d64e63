package podspec

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/phrase"
)

// checkContainers checks containers and init containers, which must not share names.
func checkContainers(found *problems, spec *corev1.PodSpec, path *field.Path, volumes []string) {
	if len(spec.Containers) == 0 {
		found.add("no-containers", path.Child("containers"), "add a container", "the template has no container")
	}
	names, taken := map[string]bool{}, hostPorts{}
	for i := range spec.Containers {
		container, at := &spec.Containers[i], path.Child("containers").Index(i)
		checkContainer(found, spec, container, at, names, volumes)
		checkHostPorts(found, container.Ports, at.Child("ports"), taken, spec.HostNetwork)
		checkHandlers(found, container, at)
	}
	for i := range spec.InitContainers {
		container, at := &spec.InitContainers[i], path.Child("initContainers").Index(i)
		checkContainer(found, spec, container, at, names, volumes)
		checkHostPorts(found, container.Ports, at.Child("ports"), hostPorts{}, false) // they run one after the other
		if IsSidecar(container) {
			checkHandlers(found, container, at)
		} else {
			checkNoHandlers(found, container, at)
		}
	}
	if len(spec.EphemeralContainers) > 0 {
		found.add("ephemeral-containers", path.Child("ephemeralContainers"), "make it a container", "a pod template cannot have ephemeral containers")
	}
}

// IsSidecar reports whether an init container is a native sidecar (KEP-753).
func IsSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// checkContainer checks the fields that are checked alike in all containers; names holds the names of earlier containers.
func checkContainer(found *problems, spec *corev1.PodSpec, container *corev1.Container, path *field.Path, names map[string]bool, volumes []string) {
	name := container.Name
	switch {
	case name == "":
		found.add("container-without-name", path.Child("name"), "add a name", "the container has no name")
	case len(validation.IsDNS1123Label(name)) > 0:
		found.add("container-name-invalid", path.Child("name"), labelFix, "the container name %q is not allowed", shorten(name))
	}
	if name != "" && names[name] {
		found.add("container-name-twice", path.Child("name"), "give each container its own name", "there is already a container %q", shorten(name))
	}
	names[name] = true
	if container.Image == "" {
		found.add("container-without-image", path.Child("image"), "add an image", "the container has no image")
	}
	oneOf(found, "pull-policy-unknown", path.Child("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	oneOf(found, "message-policy-unknown", path.Child("terminationMessagePolicy"), container.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	// The restartPolicy of a container is independent of the pod's.
	allowed := []corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure}
	switch policy := container.RestartPolicy; {
	case policy != nil && !slices.Contains(allowed, *policy):
		found.add("container-restart-policy-unknown", path.Child("restartPolicy"), "use Always for a sidecar in initContainers, or remove it", "a container has no restartPolicy %q", shorten(string(*policy)))
	case policy == nil && len(container.RestartPolicyRules) > 0:
		found.add("container-restart-policy-unknown", path.Child("restartPolicy"), "add restartPolicy: Never, for all other exit codes", "restartPolicyRules need a restartPolicy in the same container")
	}
	checkEnv(found, container.Env, path.Child("env"))
	checkEnvFrom(found, container.EnvFrom, path.Child("envFrom"))
	checkMounts(found, container, path, volumes)
	checkResources(found, spec, &container.Resources, path.Child("resources"))
	if context := container.SecurityContext; context != nil {
		at := path.Child("securityContext")
		checkIDs(found, context.RunAsUser, context.RunAsGroup, at)
		checkSeccomp(found, context.SeccompProfile, at.Child("seccompProfile"))
		if context.Privileged != nil && *context.Privileged && context.AllowPrivilegeEscalation != nil && !*context.AllowPrivilegeEscalation {
			found.add("privileged-without-escalation", at.Child("allowPrivilegeEscalation"), "remove one of them", "a privileged container cannot have allowPrivilegeEscalation: false")
		}
	}
	checkPorts(found, container.Ports, path.Child("ports"))
}

func checkPorts(found *problems, ports []corev1.ContainerPort, path *field.Path) {
	names := map[string]bool{}
	for i := range ports {
		port, at := &ports[i], path.Index(i)
		switch {
		case port.Name == "":
		case len(validation.IsValidPortName(port.Name)) > 0:
			found.add("port-name-invalid", at.Child("name"), "use at most 15 lowercase letters, digits and '-', one of them a letter", "the port name %q is not allowed", shorten(port.Name))
		case names[port.Name]:
			found.add("port-name-twice", at.Child("name"), "give each port its own name", "the container already has a port %q", shorten(port.Name))
		}
		names[port.Name] = true
		checkPortNumber(found, port.ContainerPort, at.Child("containerPort"))
		oneOf(found, "protocol-unknown", at.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
}

// hostPorts are ports of the node that containers of the pod already use.
type hostPorts map[corev1.ContainerPort]bool

// checkHostPorts checks ports of the node, which containers that run at the same time cannot share.
func checkHostPorts(found *problems, ports []corev1.ContainerPort, path *field.Path, taken hostPorts, hostNetwork bool) {
	for i := range ports {
		port, at := &ports[i], path.Index(i).Child("hostPort")
		if port.HostPort == 0 {
			continue
		}
		checkPortNumber(found, port.HostPort, at)
		key := corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: cmp.Or(port.Protocol, corev1.ProtocolTCP)}
		if taken[key] {
			found.add("host-port-twice", at, "use another port of the node", "hostPort %d is already used by this pod", port.HostPort)
		}
		taken[key] = true
		if hostNetwork && port.HostPort != port.ContainerPort {
			found.add("host-port-differs", at, "remove hostPort", "with hostNetwork, hostPort must be the same as containerPort")
		}
	}
}

func checkPortNumber(found *problems, number int32, path *field.Path) {
	if len(validation.IsValidPortNum(int(number))) > 0 {
		found.add("port-invalid", path, "use 1 to 65535", "%s is %d", phrase.Last(path), number)
	}
}

func checkIDs(found *problems, user, group *int64, path *field.Path) {
	for _, id := range []struct {
		name  string
		value *int64
	}{{"runAsUser", user}, {"runAsGroup", group}} {
		if id.value != nil && len(validation.IsValidUserID(*id.value)) > 0 {
			found.add("user-id-invalid", path.Child(id.name), "use 0 to 2147483647", "%s is %d", id.name, *id.value)
		}
	}
}
