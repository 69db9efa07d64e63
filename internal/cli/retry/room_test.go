package retry

import (
	"net/http"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

type object = map[string]any

func listOf(kind string, items ...object) object {
	return object{"kind": kind, "apiVersion": "v1", "items": items}
}

// What a LimitRange, a quota or the largest node cannot hold is said before anything is created, and what may not be read is not
// checked.
//
// Requirements: RTY-46
func TestMemoryThatNothingCanHold(t *testing.T) {
	const limits, quotas, nodes = "api/v1/namespaces/ns1/limitranges", "api/v1/namespaces/ns1/resourcequotas", "api/v1/nodes"
	node := func(name, most string) object {
		return object{"metadata": object{"name": name}, "status": object{"allocatable": object{"memory": most}}}
	}
	for text, c := range map[string]struct {
		path   string
		answer object
	}{
		"container main would get 2Gi of memory, and LimitRange small allows 1536Mi; raise it less, such as with max=1536Mi, or have the limit raised": {
			limits, listOf("LimitRangeList", object{"metadata": object{"name": "small"}, "spec": object{"limits": []any{object{"type": "Container", "max": object{"memory": "1536Mi"}}}}}),
		},
		"the pod would get 2Gi of memory, and ResourceQuota team has 1Gi in all (limits.memory)": {
			quotas, listOf("ResourceQuotaList", object{"metadata": object{"name": "team"}, "spec": object{"hard": object{"limits.memory": "1Gi"}}}),
		},
		"the pod would request 1Gi of memory, and large, the largest node for it, has 900Mi; raise it less": {
			nodes, listOf("NodeList", node("small", "100Mi"), node("large", "900Mi")),
		},
	} {
		job := failedJob(t, "a", memory("1Gi", "512Mi"))
		api := clitest.NewWrites(t, job)
		api.Pods.Put(failedPod(job, 2, 137, "OOMKilled", "1Gi", ""))
		api.API.Answers = map[string]any{c.path: c.answer}
		wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "OOMKilled", "--memory", "x2"), cmdutil.ExitError, text)
		if calls := api.Calls(); len(calls) > 0 {
			t.Errorf("it wrote: %v", calls)
		}
		api.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if strings.HasSuffix(r.URL.Path, c.path) {
				return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no"}
			}
			return nil
		})
		wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "OOMKilled", "--memory", "x2"), cmdutil.ExitDone, "gets 2Gi of memory")
	}
}

// A warning of the node about the pod is evidence; it is read only for memory.
//
// Requirements: RTY-44
func TestKillThatOnlyTheNodeReported(t *testing.T) {
	job := failedJob(t, "a", memory("1Gi", "512Mi"))
	api := clitest.NewWrites(t, job)
	pod := failedPod(job, 2, 1, "Error", "1Gi", "")
	api.Pods.Put(pod)
	const path = "api/v1/namespaces/default/events"
	api.API.Answers = map[string]any{path: listOf("EventList", object{
		"metadata": object{"name": "e"}, "involvedObject": object{"kind": "Node", "name": "n"}, "type": "Warning", "reason": "OOMKilling",
		"message": "oom-kill:task_memcg=/kubepods/pod" + string(pod.UID) + "/main,task=python", "lastTimestamp": "2026-03-01T11:30:00Z",
	})}
	asked := false
	api.API.SetRefuse(func(r *http.Request) *clitest.Status {
		asked = asked || strings.HasSuffix(r.URL.Path, path)
		return nil
	})
	wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "exit code 1", "--dry-run=client"), cmdutil.ExitDone, "It runs index 2;")
	if asked {
		t.Error("it reads the warnings of nodes for another cause")
	}
	wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "OOMKilled", "--memory", "x2"), cmdutil.ExitDone, "It runs index 2;", "gets 2Gi of memory")
}
