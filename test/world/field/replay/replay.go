// Package replay serves recordings of make field, so that tests can ask the plugin about each case without a cluster.
package replay

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// Recording is the state of an API server at a moment. It answers read requests as that server did.
type Recording struct {
	At    time.Time
	items []*unstructured.Unstructured
	logs  []recorded.Log
}

// Load reads a recording.
func Load(file string) (*Recording, error) {
	at, _, items, err := recorded.Items(file)
	if err != nil {
		return nil, err
	}
	r := &Recording{At: at}
	for _, item := range items {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(item); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if log, ok := recorded.LogOf(object); ok {
			r.logs = append(r.logs, log)
			continue
		}
		r.items = append(r.items, object)
	}
	return r, nil
}

// kinds maps resources in recordings to their kinds.
var kinds = map[string]string{
	"jobs": "Job", "pods": "Pod", "events": "Event", "cronjobs": "CronJob", "workloads": "Workload", "leases": "Lease", "nodes": "Node",
	"persistentvolumeclaims": "PersistentVolumeClaim", "jobsets": "JobSet", "namespaces": "Namespace",
}

// ServeHTTP implements http.Handler.
func (r *Recording) ServeHTTP(w http.ResponseWriter, asked *http.Request) {
	p, ok := clitest.ParsePath(asked.URL.Path)
	switch {
	case !ok || kinds[p.Resource] == "" || asked.Method != http.MethodGet:
		clitest.WriteStatus(w, &clitest.Status{Code: 404, Reason: "NotFound", Message: "the server could not find the requested resource"}, "")
	case p.Sub != "":
		r.serveLog(w, p, asked.URL.Query())
	case asked.URL.Query().Get("watch") == "true": // There are no more changes.
		clitest.WatchForever(w, asked)
	default:
		found := slices.DeleteFunc(slices.Clone(r.items), func(item *unstructured.Unstructured) bool {
			return item.GetAPIVersion() != p.GroupVersion || item.GetKind() != kinds[p.Resource]
		})
		clitest.ServeObjects(w, asked, p, kinds[p.Resource], 1, found, fieldsOf)
	}
}

func (r *Recording) serveLog(w http.ResponseWriter, p clitest.Path, query url.Values) {
	text, ok := recorded.LogText(r.logs, p.Name, query.Get("container"), query)
	if !ok {
		clitest.WriteStatus(w, &clitest.Status{Code: 400, Reason: "BadRequest", Message: "the log is not recorded"}, p.Name)
		return
	}
	_, _ = w.Write([]byte(text)) // The client detects an incomplete answer.
}

// fieldsOf returns the fields that field selectors can use besides the name and the namespace.
func fieldsOf(item *unstructured.Unstructured) fields.Set {
	set := fields.Set{}
	for _, path := range []string{
		"status.phase", "spec.nodeName", "type", "reason", "involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid",
	} {
		set[path], _, _ = unstructured.NestedString(item.Object, strings.Split(path, ".")...)
	}
	return set
}
