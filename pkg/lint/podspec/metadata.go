package podspec

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxAnnotations is the maximum size of an object's annotations, in bytes.
const maxAnnotations = 256 << 10

const (
	keyFix   = "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends; a prefix is a DNS name and '/'"
	valueFix = "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, or an annotation"
)

// CheckMetadata returns the problems of the labels and annotations of any object.
func CheckMetadata(meta *metav1.ObjectMeta, path *field.Path) []Problem {
	found := checkLabels("label-invalid", meta.Labels, path.Child("labels"))
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
	return found
}

// checkLabels checks labels, or other maps with the same format.
func checkLabels(id string, labels map[string]string, path *field.Path) (found problems) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			found.add(id, path.Key(key), keyFix, "%q cannot be the key of a label", shorten(key))
		}
		if value := labels[key]; len(validation.IsValidLabelValue(value)) > 0 {
			found.add(id, path.Key(key), valueFix, "%q cannot be the value of a label", shorten(value))
		}
	}
	return found
}
