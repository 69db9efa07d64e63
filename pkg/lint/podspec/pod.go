package podspec

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkPod checks the fields of the pod itself.
func checkPod(spec *corev1.PodSpec, path *field.Path) (found problems) {
	if deadline := spec.ActiveDeadlineSeconds; deadline != nil && (*deadline < 1 || *deadline > math.MaxInt32) {
		found.add("pod-deadline-invalid", path.Child("activeDeadlineSeconds"), "use 1 to 2147483647, or remove it", "activeDeadlineSeconds of the pod template is %d", *deadline)
	}
	found = append(found, oneOf("dns-policy-unknown", path.Child("dnsPolicy"), spec.DNSPolicy, corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)...)
	if spec.DNSPolicy == corev1.DNSNone && (spec.DNSConfig == nil || len(spec.DNSConfig.Nameservers) == 0) {
		found.add("dns-without-servers", path.Child("dnsConfig"), "add dnsConfig.nameservers", "dnsPolicy None needs at least one nameserver in dnsConfig")
	}
	found = append(found, checkPodNames(spec, path)...)
	if context := spec.SecurityContext; context != nil {
		found = append(found, checkPodSecurity(context, path.Child("securityContext"))...)
	}
	if spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace && spec.HostPID {
		found.add("process-namespaces", path.Child("shareProcessNamespace"), "remove one of them", "a pod cannot have both shareProcessNamespace and hostPID")
	}
	for i, alias := range spec.HostAliases {
		if len(validation.IsValidIP(nil, alias.IP)) > 0 {
			found.add("host-alias-invalid", path.Child("hostAliases").Index(i).Child("ip"), "use an IP address", "%q is not an IP address", shorten(alias.IP))
		}
	}
	return found
}

// checkPodNames checks the DNS names of the pod, and the names of objects that it refers to.
func checkPodNames(spec *corev1.PodSpec, path *field.Path) (found problems) {
	for _, f := range []struct{ name, value string }{{"hostname", spec.Hostname}, {"subdomain", spec.Subdomain}} {
		if f.value != "" && len(validation.IsDNS1123Label(f.value)) > 0 {
			found.add("hostname-invalid", path.Child(f.name), labelFix, "%q cannot be a %s", shorten(f.value), f.name)
		}
	}
	for _, f := range []struct{ name, value string }{
		{"serviceAccountName", spec.ServiceAccountName}, {"nodeName", spec.NodeName}, {"priorityClassName", spec.PriorityClassName},
	} {
		if f.value != "" {
			found = append(found, checkObjectName(f.value, path.Child(f.name))...)
		}
	}
	if name := spec.RuntimeClassName; name != nil {
		found = append(found, checkObjectName(*name, path.Child("runtimeClassName"))...)
	}
	return found
}
