//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// endingPods returns an API server whose pods succeed at once.
func endingPods() *fake.Clientset {
	client, made := fake.NewClientset(), 0
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made++
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		pod.Name, pod.UID, pod.Status.Phase = fmt.Sprintf("pod-%d", made), types.UID(fmt.Sprint(made)), corev1.PodSucceeded
		return false, nil, nil
	})
	return client
}

func TestBareClientRunsOneJobAfterTheOther(t *testing.T) {
	client := endingPods()
	var orders, answers bytes.Buffer
	for i := range 2 {
		assert.NoError(t, json.NewEncoder(&orders).Encode(newJob(floor, i+1, shape{2, true}, inGroup("any"))))
	}
	assert.NoError(t, answerOrders(t.Context(), api{client}, &orders, &answers))
	decoder := json.NewDecoder(&answers)
	for _, name := range []string{"floor-1", "floor-2"} {
		var answer floorAnswer
		if err := decoder.Decode(&answer); err != nil || answer.Error != "" || answer.Job.Name != name || answer.Took <= 0 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	pods := map[string]int{}
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "pods" {
			pods[action.GetVerb()]++
		}
	}
	if pods["create"] != 4 || pods["patch"] != 4 {
		t.Errorf("calls about pods: %v", pods)
	}
}

func TestBareClientReportsAnError(t *testing.T) {
	client := endingPods()
	client.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no room") })
	var orders, answers bytes.Buffer
	assert.NoError(t, json.NewEncoder(&orders).Encode(newJob(floor, 1, shape{2, true})))
	if err := answerOrders(t.Context(), api{client}, &orders, &answers); err != nil || !strings.Contains(answers.String(), "no room") {
		t.Errorf("%v, %s", err, &answers)
	}
}

func TestCPUIsHeldAgainstTheBareClient(t *testing.T) {
	of := func(s side, process string, cpu float64) bulk {
		return bulk{Side: s, Seconds: 2, CPU: map[string]float64{process: cpu, procServer: 7}}
	}
	rows := newReport(results{Pods: 100, Bulk: bulks{of(ours, procOurs, 1.2), of(builtIn, procManager, 3), of(floor, procFloor, 1)}}).Rows
	i := slices.IndexFunc(rows, func(r row) bool { return r.What == "100 indexes: CPU of the controller / bare client (1.00 s)" })
	if i < 0 || *rows[i].Ours != 1.2 || *rows[i].BuiltIn != 3 || rows[i].verdict() != "yes" {
		t.Errorf("%d of %+v", i, rows)
	}
}
