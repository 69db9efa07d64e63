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
func checkContainers(spec *corev1.PodSpec, path *field.Path, volumes []string) (found problems) {
	if len(spec.Containers) == 0 {
		found.add("no-containers", path.Child("containers"), "add a container", "the template has no container")
	}
	seen, taken := map[string]bool{}, hostPorts{}
	for i := range spec.Containers {
		container, at := &spec.Containers[i], path.Child("containers").Index(i)
		found = append(found, checkContainerName(container.Name, at.Child("name"), seen)...)
		found = append(found, checkContainer(spec, container, at, volumes)...)
		found = append(found, checkPorts(container.Ports, at.Child("ports"))...)
		found = append(found, checkHostPorts(container.Ports, at.Child("ports"), taken, spec.HostNetwork)...)
		found = append(found, checkHandlers(container, at)...)
	}
	for i := range spec.InitContainers {
		container, at := &spec.InitContainers[i], path.Child("initContainers").Index(i)
		found = append(found, checkContainerName(container.Name, at.Child("name"), seen)...)
		found = append(found, checkContainer(spec, container, at, volumes)...)
		found = append(found, checkPorts(container.Ports, at.Child("ports"))...)
		found = append(found, checkHostPorts(container.Ports, at.Child("ports"), hostPorts{}, false)...) // they run one after the other
		if IsSidecar(container) {
			found = append(found, checkHandlers(container, at)...)
		} else {
			found = append(found, checkNoHandlers(container, at)...)
		}
	}
	if len(spec.EphemeralContainers) > 0 {
		found.add("ephemeral-containers", path.Child("ephemeralContainers"), "make it a container", "a pod template cannot have ephemeral containers")
	}
	return found
}

// IsSidecar reports whether an init container is a native sidecar (KEP-753).
func IsSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func checkContainerName(name string, path *field.Path, seen map[string]bool) (found problems) {
	if name == "" {
		found.add("container-without-name", path, "add a name", "the container has no name")
		return found
	}
	if len(validation.IsDNS1123Label(name)) > 0 {
		found.add("container-name-invalid", path, labelFix, "the container name %q is not allowed", shorten(name))
	}
	if seen[name] {
		found.add("container-name-twice", path, "give each container its own name", "there is already a container %q", shorten(name))
	}
	seen[name] = true
	return found
}

// checkContainer checks the fields that are checked alike in all containers.
func checkContainer(spec *corev1.PodSpec, container *corev1.Container, path *field.Path, volumes []string) (found problems) {
	if container.Image == "" {
		found.add("container-without-image", path.Child("image"), "add an image", "the container has no image")
	}
	found = append(found, oneOf("pull-policy-unknown", path.Child("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	found = append(found, oneOf("message-policy-unknown", path.Child("terminationMessagePolicy"), container.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	found = append(found, checkContainerRestarts(container, path)...)
	found = append(found, checkEnv(container.Env, path.Child("env"))...)
	found = append(found, checkEnvFrom(container.EnvFrom, path.Child("envFrom"))...)
	found = append(found, checkMounts(container, path, volumes)...)
	found = append(found, checkResources(spec, &container.Resources, path.Child("resources"))...)
	found = append(found, checkSecurityContext(container.SecurityContext, path.Child("securityContext"))...)
	return found
}

// checkContainerRestarts checks the restartPolicy of a container, which is independent of the pod's.
func checkContainerRestarts(container *corev1.Container, path *field.Path) (found problems) {
	allowed := []corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure}
	switch policy := container.RestartPolicy; {
	case policy != nil && !slices.Contains(allowed, *policy):
		found.add("container-restart-policy-unknown", path.Child("restartPolicy"), "use Always for a sidecar in initContainers, or remove it", "a container has no restartPolicy %q", shorten(string(*policy)))
	case policy == nil && len(container.RestartPolicyRules) > 0:
		found.add("container-restart-policy-unknown", path.Child("restartPolicy"), "add restartPolicy: Never, for all other exit codes", "restartPolicyRules need a restartPolicy in the same container")
	}
	return found
}

func checkPorts(ports []corev1.ContainerPort, path *field.Path) (found problems) {
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
		found = append(found, checkPortNumber(port.ContainerPort, at.Child("containerPort"))...)
		found = append(found, oneOf("protocol-unknown", at.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
	}
	return found
}

// hostPorts are ports of the node that containers of the pod already use.
type hostPorts map[corev1.ContainerPort]bool

// checkHostPorts checks ports of the node, which containers that run at the same time cannot share.
func checkHostPorts(ports []corev1.ContainerPort, path *field.Path, taken hostPorts, hostNetwork bool) (found problems) {
	for i := range ports {
		port, at := &ports[i], path.Index(i).Child("hostPort")
		if port.HostPort == 0 {
			continue
		}
		found = append(found, checkPortNumber(port.HostPort, at)...)
		key := corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: cmp.Or(port.Protocol, corev1.ProtocolTCP)}
		if taken[key] {
			found.add("host-port-twice", at, "use another port of the node", "hostPort %d is already used by this pod", port.HostPort)
		}
		taken[key] = true
		if hostNetwork && port.HostPort != port.ContainerPort {
			found.add("host-port-differs", at, "remove hostPort", "with hostNetwork, hostPort must be the same as containerPort")
		}
	}
	return found
}

func checkPortNumber(number int32, path *field.Path) (found problems) {
	if len(validation.IsValidPortNum(int(number))) > 0 {
		found.add("port-invalid", path, "use 1 to 65535", "%s is %d", phrase.Last(path), number)
	}
	return found
}

func checkSecurityContext(context *corev1.SecurityContext, path *field.Path) (found problems) {
	if context == nil {
		return found
	}
	found = append(found, checkIDs(context.RunAsUser, context.RunAsGroup, path)...)
	found = append(found, checkSeccomp(context.SeccompProfile, path.Child("seccompProfile"))...)
	if context.Privileged != nil && *context.Privileged && context.AllowPrivilegeEscalation != nil && !*context.AllowPrivilegeEscalation {
		found.add("privileged-without-escalation", path.Child("allowPrivilegeEscalation"), "remove one of them", "a privileged container cannot have allowPrivilegeEscalation: false")
	}
	return found
}

func checkIDs(user, group *int64, path *field.Path) (found problems) {
	for _, id := range []struct {
		name  string
		value *int64
	}{{"runAsUser", user}, {"runAsGroup", group}} {
		if id.value != nil && len(validation.IsValidUserID(*id.value)) > 0 {
			found.add("user-id-invalid", path.Child(id.name), "use 0 to 2147483647", "%s is %d", id.name, *id.value)
		}
	}
	return found
}
