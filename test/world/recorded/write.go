package recorded

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Write writes a case and returns the size of the file: the objects at a time by the API server's clock, and a
// description of the situation.
func Write(file, what string, at time.Time, objects []unstructured.Unstructured) (int, error) {
	items := make([]any, 0, len(objects))
	for _, item := range objects {
		item = *item.DeepCopy()
		reduceManagers(item)
		items = append(items, item.Object)
	}
	data, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# recorded at: %s\n# what: %s\n%s", at.UTC().Format(time.RFC3339), what, data)
	return out.Len(), os.WriteFile(file, out.Bytes(), 0o644)
}

// reduceManagers keeps the manager, time and part of each write to a Job, and marks the manager of spec.suspend; it
// removes managedFields from pods and events. The fields themselves would be most of the file.
func reduceManagers(item unstructured.Unstructured) {
	path := []string{"metadata", "managedFields"}
	entries, found, _ := unstructured.NestedSlice(item.Object, path...)
	if kind := item.GetKind(); !found || kind == "Pod" || kind == "Event" {
		unstructured.RemoveNestedField(item.Object, path...)
		return
	}
	for i := range entries {
		entry, ok := entries[i].(map[string]any)
		if !ok {
			continue
		}
		reduced := map[string]any{}
		for _, key := range []string{"manager", "operation", "subresource", "time"} {
			if v, has := entry[key]; has {
				reduced[key] = v
			}
		}
		if _, has, _ := unstructured.NestedMap(entry, "fieldsV1", "f:spec", "f:suspend"); has {
			reduced["fieldsType"], reduced["fieldsV1"] = "FieldsV1", map[string]any{"f:spec": map[string]any{"f:suspend": map[string]any{}}}
		}
		entries[i] = reduced
	}
	// The list was just read from the same path.
	_ = unstructured.SetNestedSlice(item.Object, entries, path...)
}
