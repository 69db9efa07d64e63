// Package podspec finds problems for which the API server rejects a pod template. It has the rules of
// k8s.io/kubernetes/pkg/apis/core/validation, as of Kubernetes 1.37, for the fields that are common in Jobs; a test in
// test/integration compares it with a real API server.
//
//	pod template as written, without defaults ─► Check ─► Problems, in the order of the fields
//
// It is pure. Messages quote the template: the caller makes them safe for a terminal. Fields that few Jobs have are not
// checked: the fields for Windows, for in-tree volumes (iscsi, rbd and others), and for security profiles.
package podspec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/phrase"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Problem is a field for which the API server rejects the template.
type Problem struct {
	// ID is the kind of problem, such as mount-without-volume. It is stable.
	ID   string
	Path *field.Path
	// Message and Fix have one line each.
	Message, Fix string
}

// Check returns all problems of a template at this path, except problems of its restartPolicy, for which a Job has
// stricter rules.
//
// volumes are the names of volumes that a controller adds to the pods, as JobSet does for its volumeClaimPolicies.
func Check(template *corev1.PodTemplateSpec, path *field.Path, volumes []string) []Problem {
	spec, at := &template.Spec, path.Child("spec")
	found := &problems{}
	checkMetadata(found, &template.ObjectMeta, path.Child("metadata"))
	checkVolumes(found, spec.Volumes, at.Child("volumes"))
	checkContainers(found, spec, at, volumeNames(spec.Volumes, volumes))
	checkPod(found, spec, at)
	checkScheduling(found, spec, at)
	return *found
}

// problems collects the results of the checks.
type problems []Problem

func (p *problems) add(id string, path *field.Path, fix, message string, args ...any) {
	*p = append(*p, Problem{ID: id, Path: path, Fix: fix, Message: fmt.Sprintf(message, args...)})
}

// oneOf adds a problem if the value is not allowed. It accepts an empty value, which the API server replaces by a
// default.
func oneOf[T ~string](found *problems, id string, path *field.Path, value T, allowed ...T) {
	if value == "" || slices.Contains(allowed, value) {
		return
	}
	names := make([]string, len(allowed))
	for i := range allowed {
		names[i] = string(allowed[i])
	}
	found.add(id, path, "use one of: "+strings.Join(names, ", "), "there is no %s %q", phrase.Last(path), shorten(string(value)))
}

// shorten keeps messages that quote the template readable.
func shorten(text string) string { return wording.Cut(text, 60) }

// maxAnnotations is the maximum size of an object's annotations, in bytes.
const maxAnnotations = 256 << 10

const (
	keyFix   = "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends; a prefix is a DNS name and '/'"
	valueFix = "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, or an annotation"
)

// CheckMetadata returns the problems of the labels and annotations of any object.
func CheckMetadata(meta *metav1.ObjectMeta, path *field.Path) []Problem {
	found := &problems{}
	checkMetadata(found, meta, path)
	return *found
}

func checkMetadata(found *problems, meta *metav1.ObjectMeta, path *field.Path) {
	checkLabels(found, "label-invalid", meta.Labels, path.Child("labels"))
	size, annotations := 0, path.Child("annotations")
	for _, key := range slices.Sorted(maps.Keys(meta.Annotations)) {
		size += len(key) + len(meta.Annotations[key])
		// The API server converts the key to lower case first.
		if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			found.add("annotation-invalid", annotations.Key(key), keyFix, "%q cannot be the key of an annotation", shorten(key))
		}
	}
	if size > maxAnnotations {
		found.add("annotation-invalid", annotations, "keep large values in a ConfigMap", "the annotations have %d bytes, but at most %d are allowed", size, maxAnnotations)
	}
}

// checkLabels checks labels, or other maps with the same format.
func checkLabels(found *problems, id string, labels map[string]string, path *field.Path) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			found.add(id, path.Key(key), keyFix, "%q cannot be the key of a label", shorten(key))
		}
		if value := labels[key]; len(validation.IsValidLabelValue(value)) > 0 {
			found.add(id, path.Key(key), valueFix, "%q cannot be the value of a label", shorten(value))
		}
	}
}

// checkPod checks the fields of the pod itself.
func checkPod(found *problems, spec *corev1.PodSpec, path *field.Path) {
	if deadline := spec.ActiveDeadlineSeconds; deadline != nil && (*deadline < 1 || *deadline > math.MaxInt32) {
		found.add("pod-deadline-invalid", path.Child("activeDeadlineSeconds"), "use 1 to 2147483647, or remove it", "activeDeadlineSeconds of the pod template is %d", *deadline)
	}
	oneOf(found, "dns-policy-unknown", path.Child("dnsPolicy"), spec.DNSPolicy, corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)
	if spec.DNSPolicy == corev1.DNSNone && (spec.DNSConfig == nil || len(spec.DNSConfig.Nameservers) == 0) {
		found.add("dns-without-servers", path.Child("dnsConfig"), "add dnsConfig.nameservers", "dnsPolicy None needs at least one nameserver in dnsConfig")
	}
	checkPodNames(found, spec, path)
	if context := spec.SecurityContext; context != nil {
		checkPodSecurity(found, context, path.Child("securityContext"))
	}
	if spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace && spec.HostPID {
		found.add("process-namespaces", path.Child("shareProcessNamespace"), "remove one of them", "a pod cannot have both shareProcessNamespace and hostPID")
	}
	for i, alias := range spec.HostAliases {
		if len(validation.IsValidIP(nil, alias.IP)) > 0 {
			found.add("host-alias-invalid", path.Child("hostAliases").Index(i).Child("ip"), "use an IP address", "%q is not an IP address", shorten(alias.IP))
		}
	}
}

// checkPodNames checks the DNS names of the pod, and the names of objects that it refers to.
func checkPodNames(found *problems, spec *corev1.PodSpec, path *field.Path) {
	for _, f := range []struct{ name, value string }{{"hostname", spec.Hostname}, {"subdomain", spec.Subdomain}} {
		if f.value != "" && len(validation.IsDNS1123Label(f.value)) > 0 {
			found.add("hostname-invalid", path.Child(f.name), labelFix, "%q cannot be a %s", shorten(f.value), f.name)
		}
	}
	for _, f := range []struct{ name, value string }{
		{"serviceAccountName", spec.ServiceAccountName}, {"nodeName", spec.NodeName}, {"priorityClassName", spec.PriorityClassName},
	} {
		if f.value != "" {
			checkObjectName(found, f.value, path.Child(f.name))
		}
	}
	if name := spec.RuntimeClassName; name != nil {
		checkObjectName(found, *name, path.Child("runtimeClassName"))
	}
}
