package integration

import (
	"bytes"
	"fmt"
	"net/http"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

func isOurs(job *batchv1.Job) bool { return whose(job) == controller.DefaultManagedBy }

// judgeCalls checks a controller's requests against S4 (no status is rejected), S7 (every write is conditional on a
// resourceVersion or a UID) and S8 (the controller writes only to its own objects).
func judgeCalls(history *recorder, ours func(*batchv1.Job) bool, w *wire) []string {
	o := ownersOf(history, ours)
	var violations []string
	for _, c := range w.recorded(anyWrite) {
		if problem := o.judge(c); problem != "" {
			violations = append(violations, fmt.Sprintf("%s %s %s (%d): %s", c.method, c.resource, c.name, c.code, problem))
		}
	}
	return violations
}

// owners holds all Jobs and pods that have existed.
type owners struct {
	ours map[types.UID]bool
	// pods maps a pod's name and UID to the Job that it belongs to, or, if it never had an owner, that its labels name.
	pods map[string]map[types.UID]types.UID
}

// nobodys replaces the Job of a pod that names none and that this program created: the pod is released (TRK-22).
const nobodys types.UID = "nobodys"

func ownersOf(history *recorder, ours func(*batchv1.Job) bool) owners {
	o := owners{ours: map[types.UID]bool{nobodys: true}, pods: map[string]map[types.UID]types.UID{}}
	for _, v := range history.stored() {
		if v.Job != nil {
			o.ours[v.Job.UID] = ours(v.Job)
			continue
		}
		if o.pods[v.Pod.Name] == nil {
			o.pods[v.Pod.Name] = map[types.UID]types.UID{}
		}
		_, made := v.Pod.Annotations[controller.AttemptAnnotation]
		if owner, label := metav1.GetControllerOf(v.Pod), v.Pod.Labels[batchv1.ControllerUidLabel]; owner != nil {
			o.pods[v.Pod.Name][v.Pod.UID] = owner.UID
		} else if o.pods[v.Pod.Name][v.Pod.UID] == "" && label == "" && made {
			o.pods[v.Pod.Name][v.Pod.UID] = nobodys
		} else if o.pods[v.Pod.Name][v.Pod.UID] == "" {
			o.pods[v.Pod.Name][v.Pod.UID] = types.UID(label)
		}
	}
	return o
}

func (o owners) judge(c call) string {
	switch c.method + " " + c.resource {
	case http.MethodPut + " jobs/status":
		return o.judgeStatus(c)
	case http.MethodPost + " pods":
		return o.judgeCreation(c)
	case http.MethodPatch + " pods", http.MethodDelete + " pods":
		return o.judgePodWrite(c)
	}
	return "a request that the controller has no use for"
}

func (o owners) judgeStatus(c call) string {
	job := &batchv1.Job{}
	if err := decode(c.body, job); err != nil {
		return err.Error()
	}
	switch {
	case c.code == http.StatusUnprocessableEntity:
		return "S4: the API server rejects the status"
	case job.ResourceVersion == "" || job.UID == "":
		return "S7: no resourceVersion, or no UID"
	case !o.ours[job.UID]:
		return "S8: the Job is not ours"
	}
	return ""
}

func (o owners) judgeCreation(c call) string {
	pod := &corev1.Pod{}
	if err := decode(c.body, pod); err != nil {
		return err.Error()
	}
	if owner := metav1.GetControllerOf(pod); owner == nil || !o.ours[owner.UID] {
		return "S8: the pod's Job is not ours"
	}
	return ""
}

func (o owners) judgePodWrite(c call) string {
	for uid, job := range o.pods[c.name] {
		if bytes.Contains(c.body, []byte(uid)) {
			if !o.ours[job] {
				return "S8: the pod's Job is not ours"
			}
			return ""
		}
	}
	return "S7: the request does not carry the pod's UID"
}

func decode(body []byte, into runtime.Object) error {
	_, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, into)
	return err
}
