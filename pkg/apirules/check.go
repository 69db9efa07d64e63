// Package apirules is the list of what the API server rejects: the rules of k8s.io/kubernetes/pkg/apis/batch/validation and
// core/validation, as of Kubernetes 1.37.
//
//	new Job with its defaults set ─► NewJob, Hostname ─► Problems
//	the Jobs of a CronJob ─► JobTemplate ─► Problems
//	old and new Job ─► ChangedJob, Status ─► Problems
//	object or pod template as written, without defaults ─► CheckObject, CheckMetadata, Check ─► Problems
//
// The rules of Jobs have two users: the virtual API server (package sim) answers with types and paths, which test/virtual/fidelity
// compares with a real API server, and lint reports messages and fixes. The rules of pod templates and of other fields, the common
// ones, are for lint only, and read JSON, because they depend on which fields are missing; test/cluster/integration compares them.
//
// Most rules are rows of tables: of Jobs in jobs.go and policies.go, of writes to the status in status.go, of pod templates in table.go.
// The package is pure. Messages quote the object: the caller makes them safe for a terminal.
package apirules

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Problem is a field for which the API server rejects the object.
type Problem struct {
	// ID is the kind of problem, such as mount-without-volume. It is stable.
	ID string
	// Path is the field to change. Named is the field that the API server names, if that is another one.
	Path, Named *field.Path
	// Type is the type of the API server's error about a Job.
	Type field.ErrorType
	// Message and Fix have one line each. Fix is "" if only the API server reports the problem: another problem causes it, or the
	// field is immutable, alpha, or in the status.
	Message, Fix string
}

// Problems are in the order of the rules.
type Problems []Problem

// Errors returns the errors of the API server.
func (p Problems) Errors() field.ErrorList {
	var list field.ErrorList
	for _, p := range p {
		e := &field.Error{Type: p.Type, Field: cmp.Or(p.Named, p.Path).String(), BadValue: field.OmitValueType{}, Detail: p.Message}
		list = append(list, e.WithOrigin(p.ID))
	}
	return list
}

// row is a rule about a part of a Job, a T, which may have the API server's defaults or not.
type row[T any] struct {
	id   string
	kind field.ErrorType
	// field is the field to change, below the T; "" is the T. If the API server names another one, it comes after a space; "." is the T.
	field string
	// broken returns what is wrong, and a fix; "" if nothing is.
	broken func(of T) (message, fix string)
}

const (
	invalid      = field.ErrorTypeInvalid
	missing      = field.ErrorTypeRequired
	notSupported = field.ErrorTypeNotSupported
	tooMany      = field.ErrorTypeTooMany
	tooLong      = field.ErrorTypeTooLong
	repeated     = field.ErrorTypeDuplicate
)

// judge applies the rules of a table to a T at this path.
func judge[T any](found *Problems, rows []row[T], of T, path *field.Path) {
	for i := range rows {
		message, fix := rows[i].broken(of)
		if message == "" {
			continue
		}
		p := Problem{ID: rows[i].id, Type: rows[i].kind, Path: path, Message: message, Fix: fix}
		at, named, _ := strings.Cut(rows[i].field, " ")
		if at != "" {
			p.Path = path.Child(at)
		}
		if named == "." {
			p.Named = path
		} else if named != "" {
			p.Named = path.Child(named)
		}
		*found = append(*found, p)
	}
}

// when returns the fix and the message of a rule that is broken.
func when(broken bool, fix, message string, args ...any) (string, string) {
	if !broken {
		return "", ""
	}
	return fmt.Sprintf(message, args...), fix
}

// unless returns a fix, or "" if another problem causes this one.
func unless(caused bool, fix string) string {
	if caused {
		return ""
	}
	return fix
}

// more rejects a list with too many items.
func more(n, most int, items string) (message, fix string) {
	return when(n > most, "remove some", "there are %d %s, but at most %d are allowed", n, items, most)
}

// Check returns the problems of a template at this path, except problems of its restartPolicy, for which a Job has stricter
// rules. content is the template in JSON, without defaults.
//
// volumes are the names of volumes that a controller adds to the pods, as JobSet does for its volumeClaimPolicies.
func Check(template *corev1.PodTemplateSpec, content map[string]any, path *field.Path, volumes []string) Problems {
	spec, at := &template.Spec, path.Child("spec")
	found := &Problems{}
	*found = append(*found, CheckMetadata(&template.ObjectMeta, path.Child("metadata"))...)
	inner, _ := content["spec"].(map[string]any)
	apply(found, podPaths(), inner, "the template", at)
	checkContainers(found, spec, at, volumes)
	checkPod(found, spec, at)
	checkLabels(found, "node-selector-invalid", spec.NodeSelector, at.Child("nodeSelector"))
	return *found
}

func (p *Problems) add(id string, path *field.Path, fix, message string, args ...any) {
	*p = append(*p, Problem{ID: id, Path: path, Fix: fix, Message: fmt.Sprintf(message, args...)})
}

// shorten keeps messages that quote the template readable.
func shorten(text string) string { return wording.Cut(text, 60) }

// maxAnnotations is the maximum size of an object's annotations, in bytes.
const maxAnnotations = 256 << 10

// CheckMetadata returns the problems of the labels and annotations of any object.
func CheckMetadata(meta *metav1.ObjectMeta, path *field.Path) Problems {
	found := &Problems{}
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
func checkLabels(found *Problems, id string, labels map[string]string, path *field.Path) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			found.add(id, path.Key(key), keyFix, "%q cannot be the key of a label", shorten(key))
		}
		if value := labels[key]; len(validation.IsValidLabelValue(value)) > 0 {
			found.add(id, path.Key(key), valueFix, "%q cannot be the value of a label", shorten(value))
		}
	}
}

// CheckObject returns the problems of the fields that only an object has, not a template: its metadata, except its name and its
// labels, and the fields of a CronJob around its template.
func CheckObject(content map[string]any) Problems {
	found := &Problems{}
	apply(found, objectPaths(), content, "the object", nil)
	return *found
}

var objectPaths = pathsOf(func() []rule {
	return []rule{
		{"metadata.namespace", "namespace-invalid", label("the name of a namespace")},
		{"metadata.finalizers[]", "finalizer-invalid", finalizer},
		{"metadata.ownerReferences[].apiVersion|kind|name|uid", "owner-invalid", required("add it, or remove the owner")},
		{"metadata.ownerReferences[]", "owner-invalid", noEvent},
		{"spec.concurrencyPolicy", "concurrency-policy-unknown", oneOf("Allow", "Forbid", "Replace")},
		{"spec.successfulJobsHistoryLimit|failedJobsHistoryLimit|startingDeadlineSeconds", "negative", between(0, math.MaxInt64)},
	}
})

// finalizer rejects a finalizer that does not exist, or that excludes another one.
func finalizer(v *value) (string, string) {
	all, _ := v.in.is.([]any)
	orphan, foreground := metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents
	switch name := v.text(); {
	case len(validation.IsQualifiedName(name)) > 0, !IsFinalizer(name):
		return "there is no finalizer " + strconv.Quote(shorten(name)), "use a domain, '/' and a name"
	case name == orphan && slices.Contains(all, any(foreground)):
		return "an object cannot have both finalizers " + orphan + " and " + foreground, "remove one of them"
	}
	return "", ""
}

// IsFinalizer reports whether the name has a domain, unless Kubernetes itself defines the finalizer.
func IsFinalizer(name string) bool {
	return strings.Contains(name, "/") || name == string(corev1.FinalizerKubernetes) || name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents
}

// noEvent rejects an Event as an owner.
func noEvent(v *value) (string, string) {
	v.below = []string{"kind"}
	if v.object()["apiVersion"] == "v1" && v.object()["kind"] == "Event" {
		return "an Event cannot be an owner", "remove it"
	}
	return "", ""
}

// checkPod checks conditions between fields of the pod.
func checkPod(found *Problems, spec *corev1.PodSpec, path *field.Path) {
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
func checkVolumeClaims(found *Problems, spec *corev1.PodSpec, path *field.Path) {
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
