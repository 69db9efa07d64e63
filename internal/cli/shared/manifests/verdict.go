package manifests

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

// The IDs of findings in the API server's words.
const (
	serverRejects = "server-rejects"
	serverWarns   = "server-warns"
)

// An API server names the field in one of these ways; the first is from Go's decoder, for a value of the wrong type.
var (
	wrongType    = regexp.MustCompile(`Go struct field \w+\.(\S+) of type`)
	strictFields = regexp.MustCompile(`(unknown|duplicate) field "([^"]*)"`)
	// notAllowed matches the message for a user without permission, unlike that of a quota or a policy.
	notAllowed = regexp.MustCompile(`User ".*" cannot create resource`)
	// pathOf matches a warning about a field.
	pathOf = regexp.MustCompile(`^((?:spec|metadata)[\w.\[\]/-]*): (.*)$`)
)

// Verdict is what an API server says about an object.
type Verdict struct {
	// Findings are its reasons to reject the object, and its warnings.
	Findings []lint.Finding
	// Decoded is set if it knows all fields of the object, and their types.
	Decoded bool
}

func (v Verdict) rejects() bool {
	return slices.ContainsFunc(v.Findings, func(f lint.Finding) bool { return f.Rejected })
}

// VerdictOf reads the answer to the creation of an object. One that exists already is valid. Other errors, such as a missing
// permission, are returned as they are.
func VerdictOf(err error) (Verdict, error) {
	var answer apierrors.APIStatus
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return Verdict{Decoded: true}, nil
	case meta.IsNoMatchError(err):
		return Verdict{Findings: []lint.Finding{rejection("kind", "the cluster has no such kind: "+err.Error())}}, nil
	case !ConcernsObject(err), !errors.As(err, &answer), notAllowed.MatchString(err.Error()):
		return Verdict{}, err
	}
	status := answer.Status()
	if apierrors.IsInvalid(err) && status.Details != nil && len(status.Details.Causes) > 0 {
		var all []lint.Finding
		for _, cause := range status.Details.Causes {
			all = append(all, rejection(realPath.Replace(cause.Field), "the API server rejects it: "+cause.Message))
		}
		return Verdict{all, true}, nil
	}
	var all []lint.Finding
	for _, found := range strictFields.FindAllStringSubmatch(status.Message, -1) {
		all = append(all, rejection(found[2], "the API server rejects it: "+found[1]+" field "+found[2]))
	}
	if all == nil {
		all = []lint.Finding{rejection(fieldOf(status), "the API server rejects it: "+status.Message)}
	}
	return Verdict{Findings: all, Decoded: !apierrors.IsBadRequest(err)}, nil
}

// realPath corrects paths of the API server that no object has.
var realPath = strings.NewReplacer("template.annotations", "template.metadata.annotations", "template.labels", "template.metadata.labels", ".persistentDisk", ".gcePersistentDisk")

func rejection(field, message string) lint.Finding {
	return lint.Finding{ID: serverRejects, Severity: lint.Error, Rejected: true, Field: field, Message: message}
}

// fieldOf returns the field that an answer without causes is about; "" if it is unknown.
func fieldOf(status metav1.Status) string {
	if found := wrongType.FindStringSubmatch(status.Message); found != nil {
		return found[1]
	}
	switch {
	case status.Reason == metav1.StatusReasonNotFound && strings.HasPrefix(status.Message, `namespaces "`):
		return "metadata.namespace"
	case status.Reason == metav1.StatusReasonNotFound:
		return "kind"
	}
	return ""
}

// warningsOf returns the warnings of the API server about an object.
func warningsOf(texts []string) []lint.Finding {
	var all []lint.Finding
	for _, text := range texts {
		f := lint.Finding{ID: serverWarns, Severity: lint.Warning, Message: "the API server warns: " + text}
		if found := pathOf.FindStringSubmatch(text); found != nil {
			f.Field, f.Message = found[1], "the API server warns: "+found[2]
		}
		all = append(all, f)
	}
	return all
}

// ofDecoding are the IDs of findings about fields and types that an API server may not know.
var ofDecoding = []string{"unknown-field", "field-twice", "wrong-type", "quantity-invalid"}

// Merge adds the verdict to our findings about the same object, each mistake once and in our words where we have them. What the
// API server accepts is no error.
func (v Verdict) Merge(ours []lint.Finding) []lint.Finding {
	all := slices.Clone(ours)
	for i, f := range all {
		if f.Rejected && (!v.rejects() || v.Decoded && slices.Contains(ofDecoding, f.ID)) {
			all[i].Severity, all[i].Rejected = lint.Warning, false
			all[i].Message += "; this API server accepts it, others may not"
		}
	}
	for _, f := range v.Findings {
		if !slices.ContainsFunc(all, func(known lint.Finding) bool { return isSame(known, f) }) {
			all = append(all, f)
		}
	}
	return all
}

// isSame reports whether our finding is about the mistake that the API server reports.
func isSame(ours, server lint.Finding) bool {
	switch {
	case server.Rejected && !ours.Rejected:
		return false
	case ours.ID == "from-cluster":
		return slices.ContainsFunc([]string{"metadata", "spec.selector", "spec.template.metadata.labels"}, func(path string) bool { return strings.HasPrefix(server.Field, path) })
	case server.Field == "":
		return false
	}
	a, b := stepsOf(ours.Field), stepsOf(server.Field)
	n := min(len(a), len(b))
	const levels = 2 // the API server reports some mistakes at the object around the field, or at a field in it
	return slices.Equal(a[:n], b[:n]) && max(len(a), len(b))-n <= levels
}

// indexes matches the indexes and keys in a path, which the API server leaves out of some.
var indexes = regexp.MustCompile(`\[[^\]]*\]`)

func stepsOf(path string) []string { return strings.Split(indexes.ReplaceAllString(path, ""), ".") }

// rejections returns why the API server rejects an object, in our words where we have them. Of decoding, it reports only the
// first mistake, and we all.
func (v Verdict) rejections(object *manifest.Object) []lint.Finding {
	var ours []lint.Finding
	for _, job := range object.Jobs() {
		ours = append(ours, lint.Check(LintInput(job))...)
	}
	return slices.DeleteFunc(v.Merge(ours), func(f lint.Finding) bool {
		return !f.Rejected || v.Decoded && !slices.ContainsFunc(v.Findings, func(server lint.Finding) bool { return server == f || isSame(f, server) })
	})
}
