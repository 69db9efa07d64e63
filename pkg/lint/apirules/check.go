// Package apirules finds problems for which the API server rejects a Job, a CronJob or a pod template. It has the rules of
// k8s.io/kubernetes/pkg/apis/core/validation and batch/validation, as of Kubernetes 1.37, for the fields that are common in
// Jobs; a test in test/cluster/integration compares it with a real API server.
//
//	pod template as written, without defaults ─► Check ─► Problems
//	Job or CronJob as written ─► CheckJob, CheckObject ─► Problems
//
// Most rules are rows of tables: table.go has the rules of pod templates, jobs.go the rules of Jobs. The others compare fields
// of different objects. It is pure. Messages quote the object: the caller makes them safe for a terminal.
package apirules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

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

// Check returns the problems of a template at this path, except problems of its restartPolicy, for which a Job has stricter
// rules. content is the template in JSON, without defaults.
//
// volumes are the names of volumes that a controller adds to the pods, as JobSet does for its volumeClaimPolicies.
func Check(template *corev1.PodTemplateSpec, content map[string]any, path *field.Path, volumes []string) []Problem {
	spec, at := &template.Spec, path.Child("spec")
	found := &problems{}
	*found = append(*found, CheckMetadata(&template.ObjectMeta, path.Child("metadata"))...)
	inner, _ := content["spec"].(map[string]any)
	apply(found, podPaths(), inner, "the template", at)
	checkContainers(found, spec, at, volumes)
	checkPod(found, spec, at)
	checkLabels(found, "node-selector-invalid", spec.NodeSelector, at.Child("nodeSelector"))
	return *found
}

// problems collects the results of the checks.
type problems []Problem

func (p *problems) add(id string, path *field.Path, fix, message string, args ...any) {
	*p = append(*p, Problem{ID: id, Path: path, Fix: fix, Message: fmt.Sprintf(message, args...)})
}

// shorten keeps messages that quote the template readable.
func shorten(text string) string { return wording.Cut(text, 60) }

// maxAnnotations is the maximum size of an object's annotations, in bytes.
const maxAnnotations = 256 << 10

// CheckMetadata returns the problems of the labels and annotations of any object.
func CheckMetadata(meta *metav1.ObjectMeta, path *field.Path) []Problem {
	found := &problems{}
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
	return *found
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

// checkPod checks conditions between fields of the pod.
func checkPod(found *problems, spec *corev1.PodSpec, path *field.Path) {
	if spec.DNSPolicy == corev1.DNSNone && (spec.DNSConfig == nil || len(spec.DNSConfig.Nameservers) == 0) {
		found.add("dns-without-servers", path.Child("dnsConfig"), "add dnsConfig.nameservers", "dnsPolicy None needs at least one nameserver in dnsConfig")
	}
	if ptr.Deref(spec.ShareProcessNamespace, false) && spec.HostPID {
		found.add("process-namespaces", path.Child("shareProcessNamespace"), "remove one of them", "a pod cannot have both shareProcessNamespace and hostPID")
	}
	if spec.HostUsers != nil && !*spec.HostUsers && (spec.HostNetwork || spec.HostPID || spec.HostIPC) {
		found.add("process-namespaces", path.Child("hostUsers"), "remove one of them", "a pod with hostUsers: false cannot have hostNetwork, hostPID or hostIPC")
	}
	if spec.HostnameOverride != nil && (spec.HostNetwork || ptr.Deref(spec.SetHostnameAsFQDN, false) || len(*spec.HostnameOverride) > 64) {
		found.add("hostname-invalid", path.Child("hostnameOverride"), "remove it, or the other field", "hostnameOverride must have at most 64 characters, and cannot be used with hostNetwork or setHostnameAsFQDN")
	}
	checkVolumeClaims(found, spec, path)
}

// checkVolumeClaims checks the sizes of volumes, and the claims that the pods make.
func checkVolumeClaims(found *problems, spec *corev1.PodSpec, path *field.Path) {
	for i := range spec.Volumes {
		at := path.Child("volumes").Index(i)
		if of := spec.Volumes[i].EmptyDir; of != nil && of.SizeLimit != nil && of.SizeLimit.Sign() < 0 {
			found.add("volume-incomplete", at.Child("emptyDir", "sizeLimit"), "use 0 or more", "sizeLimit is %s", of.SizeLimit)
		}
		if of := spec.Volumes[i].Ephemeral; of != nil && of.VolumeClaimTemplate != nil {
			claim, in := of.VolumeClaimTemplate, at.Child("ephemeral", "volumeClaimTemplate")
			*found = append(*found, CheckMetadata(&claim.ObjectMeta, in.Child("metadata"))...)
			if storage, set := claim.Spec.Resources.Requests[corev1.ResourceStorage]; !set || storage.Sign() <= 0 {
				found.add("resource-negative", in.Child("spec", "resources", "requests").Key("storage"), "use more than 0", "the storage is %s", &storage)
			}
		}
	}
}
