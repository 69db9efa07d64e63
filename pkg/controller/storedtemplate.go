package controller

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// create creates a pod with all fields of the Job's template, or fails: a newer API server may store fields that our
// types lack.
func (s *stage) create(ctx context.Context, n reconcile.NewPod) (*corev1.Pod, error) {
	pod := podFor(s.job, n)
	if s.template == nil {
		return s.cluster.Pods.Create(ctx, pod)
	}
	body, err := withTemplate(pod, s.template)
	if err == nil && s.cluster.CreateJSON == nil {
		err = fmt.Errorf("it has fields that this version does not know")
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("no pod can be made from the Job's template without losing a part of it: " + err.Error() + "; a newer version of this controller may know it")
	}
	return s.cluster.CreateJSON(ctx, pod.Namespace, body)
}

// withTemplate returns the JSON of a pod made from a template, including the spec fields that only the JSON of the
// template has. Of the template's metadata, only labels, annotations and finalizers apply to the pod; any other unknown
// field is an error, since its place in the pod is unclear.
func withTemplate(pod *corev1.Pod, template []byte) ([]byte, error) {
	var stored struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     json.RawMessage   `json:"spec"`
	}
	unknown, err := strictjson.UnmarshalStrict(template, &stored, strictjson.DisallowUnknownFields)
	if err != nil {
		return nil, err
	}
	for _, u := range unknown {
		return nil, fmt.Errorf("spec.template: %w", u)
	}
	made := struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
		Spec            json.RawMessage   `json:"spec"`
	}{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Metadata: pod.ObjectMeta}
	if made.Spec, err = json.Marshal(pod.Spec); err != nil {
		return nil, err
	}
	if made.Spec, err = addMissing(made.Spec, stored.Spec, "spec.template.spec"); err != nil {
		return nil, err
	}
	return json.Marshal(made)
}

// addMissing adds to the JSON value `to` the fields that only `from` has. Values in both stay as they are in `to`: a
// list may be longer now, or a value different.
func addMissing(to, from json.RawMessage, path string) (json.RawMessage, error) {
	var objects [2]map[string]json.RawMessage
	var lists [2][]json.RawMessage
	switch {
	case isJSON('{', to, from):
		if err := unmarshalBoth(to, from, &objects[0], &objects[1]); err != nil {
			return nil, err
		}
		for key, value := range objects[1] {
			if at, there := objects[0][key]; there {
				var err error
				if value, err = addMissing(at, value, path+"."+key); err != nil {
					return nil, err
				}
			}
			objects[0][key] = value
		}
		return json.Marshal(objects[0])
	case isJSON('[', to, from):
		if err := unmarshalBoth(to, from, &lists[0], &lists[1]); err != nil {
			return nil, err
		}
		for i, value := range lists[1] {
			at := fmt.Sprintf("%s[%d]", path, i)
			if i >= len(lists[0]) || nameIn(value) != nameIn(lists[0][i]) {
				return nil, fmt.Errorf("%s: it is not the same in the pod", at)
			}
			var err error
			if lists[0][i], err = addMissing(lists[0][i], value, at); err != nil {
				return nil, err
			}
		}
		return json.Marshal(lists[0])
	}
	return to, nil
}

func unmarshalBoth[T any](a, b json.RawMessage, intoA, intoB *T) error {
	if err := json.Unmarshal(a, intoA); err != nil {
		return err
	}
	return json.Unmarshal(b, intoB)
}

// isJSON reports whether all texts begin with the character, such as { for an object or [ for a list.
func isJSON(begin byte, texts ...json.RawMessage) bool {
	for _, text := range texts {
		if len(text) == 0 || text[0] != begin {
			return false
		}
	}
	return true
}

// nameIn returns the name of a container, a variable or a volume; "" for other items.
func nameIn(item json.RawMessage) string {
	var named struct {
		Name any `json:"name"`
	}
	if !isJSON('{', item) || json.Unmarshal(item, &named) != nil {
		return ""
	}
	name, _ := named.Name.(string)
	return name
}
