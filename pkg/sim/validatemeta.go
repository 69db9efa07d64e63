package sim

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// standardFinalizers are those that need no domain.
var standardFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

// validateMeta checks the metadata of an object.
func validateMeta(object metav1.Object) field.ErrorList {
	path := field.NewPath("metadata")
	list := apivalidation.ValidateObjectMetaAccessor(object, true, apivalidation.NameIsDNSSubdomain, path)
	for i, name := range object.GetFinalizers() {
		if !strings.Contains(name, "/") && !slices.Contains(standardFinalizers, name) {
			list = append(list, problem(invalid, path.Child("finalizers").Index(i), "the name has no domain"))
		}
	}
	return list
}

// validateMetaUpdate checks changed metadata.
func validateMetaUpdate(old, object metav1.Object) field.ErrorList {
	return append(validateMeta(object), apivalidation.ValidateObjectMetaAccessorUpdate(object, old, field.NewPath("metadata"))...)
}
