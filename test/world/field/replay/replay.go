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
	"k8s.io/apimachinery/pkg/labels"

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

// request is a parsed request path.
type request struct{ groupVersion, namespace, resource, name, sub string }

// parse parses a path: /api/VERSION/… or /apis/GROUP/VERSION/…, with or without a namespace.
func parse(path string) (q request, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		q.groupVersion, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		q.groupVersion, parts = parts[1]+"/"+parts[2], parts[3:]
	default:
		return q, false
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		q.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	q.resource, q.name, q.sub = parts[0], parts[1], parts[2]
	return q, true
}

// ServeHTTP implements http.Handler.
func (r *Recording) ServeHTTP(w http.ResponseWriter, asked *http.Request) {
	q, ok := parse(asked.URL.Path)
	switch {
	case !ok || kinds[q.resource] == "" || asked.Method != http.MethodGet:
		fail(w, http.StatusNotFound, "the server could not find the requested resource")
	case q.sub != "":
		r.serveLog(w, q, asked.URL.Query())
	case asked.URL.Query().Get("watch") == "true": // There are no more changes.
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-asked.Context().Done()
	case q.name != "":
		r.serveGet(w, q)
	default:
		r.serveList(w, asked, q)
	}
}

func (r *Recording) serveGet(w http.ResponseWriter, q request) {
	i := slices.IndexFunc(r.items, func(item *unstructured.Unstructured) bool { return q.matches(item) && item.GetName() == q.name })
	if i < 0 {
		fail(w, http.StatusNotFound, fmt.Sprintf("%s %q not found", q.resource, q.name))
		return
	}
	clitest.WriteJSON(w, http.StatusOK, r.items[i].Object)
}

func (r *Recording) serveLog(w http.ResponseWriter, q request, query url.Values) {
	text, ok := recorded.LogText(r.logs, q.name, query.Get("container"), query)
	if !ok {
		fail(w, http.StatusBadRequest, "the log is not recorded")
		return
	}
	_, _ = w.Write([]byte(text)) // The client detects an incomplete answer.
}

// serveList selects by labels and by the field selectors that the plugin uses.
func (r *Recording) serveList(w http.ResponseWriter, asked *http.Request, q request) {
	byLabel, err := labels.Parse(asked.URL.Query().Get("labelSelector"))
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	byField, err := fields.ParseSelector(asked.URL.Query().Get("fieldSelector"))
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	items := []any{}
	metadataOnly := strings.Contains(asked.Header.Get("Accept"), "as=PartialObjectMetadataList")
	for _, item := range r.items {
		if !q.matches(item) || !byLabel.Matches(labels.Set(item.GetLabels())) || !byField.Matches(fieldsOf(item)) {
			continue
		}
		object := item.Object
		if metadataOnly {
			object = clitest.Partial(item.Object["metadata"])
		}
		items = append(items, object)
	}
	list := map[string]any{"kind": kinds[q.resource] + "List", "apiVersion": q.groupVersion, "metadata": map[string]any{"resourceVersion": "1"}, "items": items}
	if metadataOnly {
		list["kind"], list["apiVersion"] = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	clitest.WriteJSON(w, http.StatusOK, list)
}

// matches reports whether an object has the requested kind and namespace.
func (q request) matches(item *unstructured.Unstructured) bool {
	return item.GetAPIVersion() == q.groupVersion && item.GetKind() == kinds[q.resource] && (q.namespace == "" || item.GetNamespace() == q.namespace)
}

// fieldsOf returns the fields that field selectors can use.
func fieldsOf(item *unstructured.Unstructured) fields.Set {
	set := fields.Set{"metadata.name": item.GetName(), "metadata.namespace": item.GetNamespace()}
	for _, path := range []string{
		"status.phase", "spec.nodeName", "type", "reason", "involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid",
	} {
		set[path], _, _ = unstructured.NestedString(item.Object, strings.Split(path, ".")...)
	}
	return set
}

func fail(w http.ResponseWriter, code int, message string) {
	clitest.WriteJSON(w, code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "reason": strings.ReplaceAll(http.StatusText(code), " ", ""),
	})
}
