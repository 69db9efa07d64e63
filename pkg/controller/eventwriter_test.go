package controller

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// JOB-47: what was said before the end is written before the end: nobody says it again.
func TestEventsOfTheLastWrites_JOB_47(t *testing.T) {
	client := fake.NewClientset()
	w := newEventWriter()
	w.start(client)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "u"}}
	const n = 20
	for i := range n {
		w.recorder().Event(job, corev1.EventTypeNormal, fmt.Sprintf("Reason%d", i), "message")
	}
	w.stop()
	list, err := client.CoreV1().Events("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != n {
		t.Errorf("%d of %d events are written, %v", len(list.Items), n, err)
	}
	if got := list.Items[0].Source.Component; got != FieldManager {
		t.Errorf("they come from %q", got)
	}
}
