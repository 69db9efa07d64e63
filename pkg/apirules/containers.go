package apirules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// checkContainers checks conditions between fields of containers, and between containers: they must not share names.
func checkContainers(found *Problems, spec *corev1.PodSpec, path *field.Path, added []string) {
	names, taken := map[string]bool{}, hostPorts{}
	for i := range spec.Containers {
		container, at := &spec.Containers[i], path.Child("containers").Index(i)
		checkContainer(found, spec, container, at, names, added)
		checkHostPorts(found, container.Ports, at.Child("ports"), taken, spec.HostNetwork)
	}
	for i := range spec.InitContainers {
		container, at := &spec.InitContainers[i], path.Child("initContainers").Index(i)
		checkContainer(found, spec, container, at, names, added)
		checkHostPorts(found, container.Ports, at.Child("ports"), hostPorts{}, false) // they run one after the other
	}
	checkPodResources(found, spec, path.Child("resources"))
}

// IsSidecar reports whether an init container is a native sidecar (KEP-753).
func IsSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// checkContainer checks a container; names holds the names of earlier containers.
func checkContainer(found *Problems, spec *corev1.PodSpec, container *corev1.Container, path *field.Path, names map[string]bool, added []string) {
	name := container.Name
	if name != "" && names[name] {
		found.add("container-name-twice", path.Child("name"), "give each container its own name", "there is already a container %q", shorten(name))
	}
	names[name] = true
	for i := range container.Env {
		if from := container.Env[i].ValueFrom; from != nil && from.FileKeyRef != nil {
			checkVolumeRef(found, from.FileKeyRef.VolumeName, path.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName"), spec, added)
		}
	}
	checkMounts(found, spec, container, path, added)
	checkResources(found, spec, &container.Resources, path.Child("resources"))
	if context := container.SecurityContext; context != nil && ptr.Deref(context.Privileged, false) && context.AllowPrivilegeEscalation != nil && !*context.AllowPrivilegeEscalation {
		found.add("privileged-without-escalation", path.Child("securityContext", "allowPrivilegeEscalation"), "remove one of them", "a privileged container cannot have allowPrivilegeEscalation: false")
	}
}

// checkMounts checks the volumes that a container uses.
func checkMounts(found *Problems, spec *corev1.PodSpec, container *corev1.Container, path *field.Path, added []string) {
	privileged := container.SecurityContext != nil && ptr.Deref(container.SecurityContext.Privileged, false)
	for i := range container.VolumeMounts {
		mount, at := &container.VolumeMounts[i], path.Child("volumeMounts").Index(i)
		checkVolumeRef(found, mount.Name, at.Child("name"), spec, added)
		propagation, recursive := mount.MountPropagation, mount.RecursiveReadOnly
		if propagation != nil && *propagation == corev1.MountPropagationBidirectional && !privileged {
			found.add("mount-option-invalid", at.Child("mountPropagation"), "use HostToContainer, or privileged: true", "only privileged containers can have mountPropagation Bidirectional")
		}
		if recursive != nil && *recursive != corev1.RecursiveReadOnlyDisabled && (!mount.ReadOnly || propagation != nil && *propagation != corev1.MountPropagationNone) {
			found.add("mount-option-invalid", at.Child("recursiveReadOnly"), "add readOnly: true, and remove mountPropagation", "recursiveReadOnly needs readOnly, and no mountPropagation")
		}
	}
	for i, device := range container.VolumeDevices {
		at := path.Child("volumeDevices").Index(i).Child("name")
		checkVolumeRef(found, device.Name, at, spec, added)
		if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == device.Name && v.PersistentVolumeClaim == nil && v.Ephemeral == nil
		}) {
			found.add("mount-option-invalid", at, "use a volume with a claim", "volume %q is no block device", shorten(device.Name))
		}
	}
}

// checkVolumeRef checks that the pod has a volume, or that a controller adds it.
func checkVolumeRef(found *Problems, name string, path *field.Path, spec *corev1.PodSpec, added []string) {
	volumes := slices.Clone(added)
	for i := range spec.Volumes {
		volumes = append(volumes, spec.Volumes[i].Name)
	}
	if slices.Contains(volumes, name) && name != "" {
		return
	}
	fix := "add it to the volumes of the pod template"
	if len(volumes) > 0 {
		fix += ", or write one of: " + shorten(strings.Join(volumes, ", "))
	}
	found.add("mount-without-volume", path, fix, "the pod template has no volume %q", shorten(name))
}

// ofSidecar rejects a probe or a hook of an init container that is not a sidecar: it has to end, not to become ready.
func ofSidecar(v *value) (string, string) {
	if v.is == nil || v.in.object()["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways) {
		return "", ""
	}
	return "an init container that is not a sidecar cannot have " + v.name, "remove it, or add restartPolicy: Always if the container is a sidecar"
}

// valueOrSource rejects a variable with a value and a source.
func valueOrSource(v *value) (string, string) {
	name, _ := v.object()["name"].(string)
	if v.object()["valueFrom"] == nil || isEmpty(v.object()["value"]) {
		return "", ""
	}
	v.below = []string{"valueFrom"}
	return fmt.Sprintf("variable %q has both value and valueFrom", shorten(name)), "remove value or valueFrom"
}

// hostPorts are ports of the node that containers of the pod already use.
type hostPorts map[corev1.ContainerPort]bool

// checkHostPorts checks ports of the node, which containers that run at the same time cannot share.
func checkHostPorts(found *Problems, ports []corev1.ContainerPort, path *field.Path, taken hostPorts, hostNetwork bool) {
	for i := range ports {
		port, at := &ports[i], path.Index(i).Child("hostPort")
		if port.HostPort == 0 {
			continue
		}
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
