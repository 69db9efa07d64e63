package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Path is the path of a request: /api/VERSION/… or /apis/GROUP/VERSION/…, with or without a namespace.
type Path struct{ GroupVersion, Namespace, Resource, Name, Sub string }

// ParsePath parses a path, and reports whether it is about objects.
func ParsePath(path string) (p Path, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		p.GroupVersion, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		p.GroupVersion, parts = parts[1]+"/"+parts[2], parts[3:]
	default:
		return p, false
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		p.Namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	p.Resource, p.Name, p.Sub = parts[0], parts[1], parts[2]
	return p, true
}

// maxPage is the maximum number of objects in the response to a list request with a limit.
const maxPage = 2000

// ServeObjects answers a get or list request about objects of a kind. Lists are selected by labels and fields, and served in pages.
// An object without a namespace is in each of them. fieldsOf returns the fields of an object that selectors may use besides its name and namespace; nil for none.
func ServeObjects[T metav1.Object](w http.ResponseWriter, r *http.Request, p Path, kind string, version int, objects []T, fieldsOf func(T) fields.Set) {
	objects = slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return p.Namespace != "" && o.GetNamespace() != "" && o.GetNamespace() != p.Namespace })
	if p.Name != "" {
		i := slices.IndexFunc(objects, func(o T) bool { return o.GetName() == p.Name })
		if i < 0 {
			gv, _ := schema.ParseGroupVersion(p.GroupVersion)
			of := gv.WithResource(p.Resource).GroupResource()
			status := StatusObject(&Status{404, "NotFound", fmt.Sprintf("%s %q not found", of, p.Name)}, p.Name)
			status["details"] = map[string]any{"kind": of.Resource, "group": of.Group, "name": p.Name}
			WriteJSON(w, http.StatusNotFound, status)
			return
		}
		object := asMap(objects[i])
		object["kind"], object["apiVersion"] = kind, p.GroupVersion
		WriteJSON(w, http.StatusOK, object)
		return
	}
	query := r.URL.Query()
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	byField, fieldErr := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil || fieldErr != nil {
		WriteStatus(w, &Status{400, "BadRequest", fmt.Sprint(err, fieldErr)}, "")
		return
	}
	objects = slices.DeleteFunc(objects, func(o T) bool {
		of := fields.Set{}
		if fieldsOf != nil {
			of = fieldsOf(o)
		}
		of["metadata.name"], of["metadata.namespace"] = o.GetName(), o.GetNamespace()
		return !byLabel.Matches(labels.Set(o.GetLabels())) || !byField.Matches(of)
	})
	listMeta := map[string]any{"resourceVersion": strconv.Itoa(version)}
	from, _ := strconv.Atoi(query.Get("continue"))
	objects = objects[min(from, len(objects)):]
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && len(objects) > min(limit, maxPage) {
		objects = objects[:min(limit, maxPage)]
		listMeta["continue"] = strconv.Itoa(from + len(objects))
	}
	list := map[string]any{"kind": kind + "List", "apiVersion": p.GroupVersion, "metadata": listMeta, "items": append([]T{}, objects...)}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		items := []any{}
		for _, o := range objects {
			items = append(items, Partial(asMap(o)["metadata"]))
		}
		list["kind"], list["apiVersion"], list["items"] = "PartialObjectMetadataList", "meta.k8s.io/v1", items
	}
	WriteJSON(w, http.StatusOK, list)
}

// asMap returns the JSON object of an object.
func asMap(object any) map[string]any {
	fields := map[string]any{}
	data, err := json.Marshal(object)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber() // Large integers stay as they are.
		err = decoder.Decode(&fields)
	}
	if err != nil {
		panic(err) // The objects are Go types of the API, or JSON.
	}
	return fields
}

// WatchForever answers a watch request that delivers nothing.
func WatchForever(w http.ResponseWriter, r *http.Request) {
	serveChanges(w, r, func(int) (<-chan struct{}, []change, bool) { return nil, nil, false })
}

// change is a version of an object that watches deliver.
type change struct {
	version int
	kind    string
	object  any
}

// serveChanges answers a watch request with the changes after its version. look returns a channel that the next change
// closes, all changes so far, and whether the watch ends.
func serveChanges(w http.ResponseWriter, r *http.Request, look func(from int) (changed <-chan struct{}, all []change, ended bool)) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		changed, all, ended := look(from)
		for _, c := range all {
			if c.version > from {
				from = c.version
				_ = json.NewEncoder(w).Encode(map[string]any{"type": c.kind, "object": c.object})
			}
		}
		w.(http.Flusher).Flush()
		if ended {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
