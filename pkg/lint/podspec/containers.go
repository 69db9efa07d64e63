package podspec

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/phrase"
)

// containers checks the containers, whose names init containers must not repeat.
func (c *checker) containers(spec *corev1.PodSpec, path *field.Path, volumes []string) {
	if len(spec.Containers) == 0 {
		c.add("no-containers", path.Child("containers"), "add a container", "the template has no container")
	}
	seen, taken := map[string]bool{}, hostPorts{}
	for i := range spec.Containers {
		container, at := &spec.Containers[i], path.Child("containers").Index(i)
		c.name(container.Name, at.Child("name"), seen)
		c.container(spec, container, at, volumes)
		c.ports(container.Ports, at.Child("ports"))
		c.hostPorts(container.Ports, at.Child("ports"), taken, spec.HostNetwork)
		c.handlers(container, at)
	}
	for i := range spec.InitContainers {
		container, at := &spec.InitContainers[i], path.Child("initContainers").Index(i)
		c.name(container.Name, at.Child("name"), seen)
		c.container(spec, container, at, volumes)
		c.ports(container.Ports, at.Child("ports"))
		c.hostPorts(container.Ports, at.Child("ports"), hostPorts{}, false) // they run one after the other
		if IsSidecar(container) {
			c.handlers(container, at)
		} else {
			c.noHandlers(container, at)
		}
	}
	if len(spec.EphemeralContainers) > 0 {
		c.add("ephemeral-containers", path.Child("ephemeralContainers"), "make it a container", "a pod template cannot have ephemeral containers")
	}
}

// IsSidecar reports whether an init container is a native sidecar (KEP-753).
func IsSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func (c *checker) name(name string, path *field.Path, seen map[string]bool) {
	if name == "" {
		c.add("container-without-name", path, "add a name", "the container has no name")
		return
	}
	if len(validation.IsDNS1123Label(name)) > 0 {
		c.add("container-name-invalid", path, labelFix, "the container name %q is not allowed", shorten(name))
	}
	if seen[name] {
		c.add("container-name-twice", path, "give each container its own name", "there is already a container %q", shorten(name))
	}
	seen[name] = true
}

// container checks what all containers have in common.
func (c *checker) container(spec *corev1.PodSpec, container *corev1.Container, path *field.Path, volumes []string) {
	if container.Image == "" {
		c.add("container-without-image", path.Child("image"), "add an image", "the container has no image")
	}
	oneOf(c, "pull-policy-unknown", path.Child("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	oneOf(c, "message-policy-unknown", path.Child("terminationMessagePolicy"), container.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	c.containerRestarts(container, path)
	c.env(container.Env, path.Child("env"))
	c.envFrom(container.EnvFrom, path.Child("envFrom"))
	c.mounts(container, path, volumes)
	c.resources(spec, &container.Resources, path.Child("resources"))
	c.securityContext(container.SecurityContext, path.Child("securityContext"))
}

// containerRestarts checks the restartPolicy of a container, which is not that of the pod.
func (c *checker) containerRestarts(container *corev1.Container, path *field.Path) {
	allowed := []corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure}
	switch policy := container.RestartPolicy; {
	case policy != nil && !slices.Contains(allowed, *policy):
		c.add("container-restart-policy-unknown", path.Child("restartPolicy"), "use Always for a sidecar in initContainers, or remove it", "a container has no restartPolicy %q", shorten(string(*policy)))
	case policy == nil && len(container.RestartPolicyRules) > 0:
		c.add("container-restart-policy-unknown", path.Child("restartPolicy"), "add restartPolicy: Never, for all other exit codes", "restartPolicyRules need a restartPolicy in the same container")
	}
}

func (c *checker) ports(ports []corev1.ContainerPort, path *field.Path) {
	names := map[string]bool{}
	for i := range ports {
		port, at := &ports[i], path.Index(i)
		switch {
		case port.Name == "":
		case len(validation.IsValidPortName(port.Name)) > 0:
			c.add("port-name-invalid", at.Child("name"), "use at most 15 lowercase letters, digits and '-', one of them a letter", "the port name %q is not allowed", shorten(port.Name))
		case names[port.Name]:
			c.add("port-name-twice", at.Child("name"), "give each port its own name", "the container already has a port %q", shorten(port.Name))
		}
		names[port.Name] = true
		c.portNumber(port.ContainerPort, at.Child("containerPort"))
		oneOf(c, "protocol-unknown", at.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
}

// hostPorts are ports of the node that containers of the pod have already.
type hostPorts map[corev1.ContainerPort]bool

// hostPorts checks ports of the node, which containers that run at the same time cannot share.
func (c *checker) hostPorts(ports []corev1.ContainerPort, path *field.Path, taken hostPorts, hostNetwork bool) {
	for i := range ports {
		port, at := &ports[i], path.Index(i).Child("hostPort")
		if port.HostPort == 0 {
			continue
		}
		c.portNumber(port.HostPort, at)
		key := corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: cmp.Or(port.Protocol, corev1.ProtocolTCP)}
		if taken[key] {
			c.add("host-port-twice", at, "use another port of the node", "hostPort %d is already used by this pod", port.HostPort)
		}
		taken[key] = true
		if hostNetwork && port.HostPort != port.ContainerPort {
			c.add("host-port-differs", at, "remove hostPort", "with hostNetwork, hostPort must be the same as containerPort")
		}
	}
}

func (c *checker) portNumber(number int32, path *field.Path) {
	if len(validation.IsValidPortNum(int(number))) > 0 {
		c.add("port-invalid", path, "use 1 to 65535", "%s is %d", phrase.Last(path), number)
	}
}

func (c *checker) securityContext(context *corev1.SecurityContext, path *field.Path) {
	if context == nil {
		return
	}
	c.ids(context.RunAsUser, context.RunAsGroup, path)
	c.seccomp(context.SeccompProfile, path.Child("seccompProfile"))
	if context.Privileged != nil && *context.Privileged && context.AllowPrivilegeEscalation != nil && !*context.AllowPrivilegeEscalation {
		c.add("privileged-without-escalation", path.Child("allowPrivilegeEscalation"), "remove one of them", "a privileged container cannot have allowPrivilegeEscalation: false")
	}
}

func (c *checker) ids(user, group *int64, path *field.Path) {
	for _, id := range []struct {
		name  string
		value *int64
	}{{"runAsUser", user}, {"runAsGroup", group}} {
		if id.value != nil && len(validation.IsValidUserID(*id.value)) > 0 {
			c.add("user-id-invalid", path.Child(id.name), "use 0 to 2147483647", "%s is %d", id.name, *id.value)
		}
	}
}
