package cluster

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errForeign is the error for a response with code 200 that is not from the API server, but for example a maintenance
// page of a proxy: any JSON object decodes as an empty object or list, and an empty list means that everything is gone.
var errForeign = errors.New("the answer is not from a Kubernetes API server: the object has no UID, or the list no resourceVersion")

// checkObject returns an error for an object that is not from an API server.
func (l *Live) checkObject(object metav1.Object, err error) error {
	if err == nil && l.isReal() && object.GetUID() == "" {
		return errForeign
	}
	return err
}

// checkList returns an error for a list that is not from an API server.
func (l *Live) checkList(list metav1.ListInterface, err error) error {
	if err == nil && l.isReal() && list.GetResourceVersion() == "" {
		return errForeign
	}
	return err
}

// isReal reports whether the client is real, not a fake.
func (l *Live) isReal() bool { return l.named != nil }
