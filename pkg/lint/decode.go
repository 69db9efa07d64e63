package lint

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// decode decodes the object strictly, as an API server does for kubectl. Fields with a mistake in their name or place
// are reported, and checked as what was meant. It returns false if there is nothing to check.
func (r *review) decode(content map[string]any) bool {
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		panic("registering batch/v1: " + err.Error())
	}
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Strict: true})
	data, err := json.Marshal(content)
	if err == nil {
		content = nil // the caller's is not corrected
		err = utiljson.Unmarshal(data, &content)
	}
	if err != nil {
		r.reject("not-readable", nil, "", "not a Kubernetes object: %v"+restSkipped, err)
		return false
	}
	reported := map[string]bool{}
	for {
		object, _, err := decoder.Decode(data, nil, nil)
		strict, isStrict := runtime.AsStrictDecodingError(err)
		switch {
		case err != nil && !isStrict:
			r.notDecoded(content, err)
			return false
		case !isStrict || !r.unknownFields(reflect.TypeOf(object).Elem(), content, strict.Errors(), reported):
			return r.take(object)
		}
		if data, err = json.Marshal(content); err != nil {
			panic("encoding what was decoded: " + err.Error())
		}
	}
}

func (r *review) take(object runtime.Object) bool {
	switch o := object.(type) {
	case *batchv1.Job:
		r.meta, r.spec = &o.ObjectMeta, &o.Spec
	case *batchv1.CronJob:
		r.cronJob, r.path = o, field.NewPath("spec", "jobTemplate")
		r.meta, r.spec = &o.Spec.JobTemplate.ObjectMeta, &o.Spec.JobTemplate.Spec
	default:
		r.reject("not-readable", nil, "provide a Job or CronJob", "not a batch/v1 Job or CronJob")
		return false
	}
	return true
}

// lastOf returns the last name in a path.
func lastOf(path *field.Path) string {
	text := path.String()
	return text[strings.LastIndexByte(text, '.')+1:]
}

// restSkipped ends the message of a finding after which nothing else can be checked.
const restSkipped = "; the rest of the object was not checked"

// notDecoded reports a value of the wrong type, with its field if the decoder names it.
func (r *review) notDecoded(content map[string]any, err error) {
	var wrong *json.UnmarshalTypeError
	if runtime.IsNotRegisteredError(err) {
		r.reject("not-readable", nil, "provide a Job or CronJob", "not a batch/v1 object: %v"+restSkipped, err)
		return
	}
	if !errors.As(err, &wrong) || wrong.Field == "" {
		r.reject("not-readable", nil, "", "not a batch/v1 object: %v"+restSkipped, err)
		return
	}
	path, wanted, value := field.NewPath(wrong.Field), typeName(wrong.Type), valueName(wrong.Value)
	fix := "write " + wanted
	if wanted == "text" && !strings.HasPrefix(value, "a list") && !strings.HasPrefix(value, "an object") {
		fix = "quote it"
	}
	if key, found := wrongEntry(content, wrong); found {
		r.reject("wrong-type", path.Key(key), fix, "a value in %s is %s, but the API expects %s"+restSkipped, lastOf(path), value, wanted)
		return
	}
	r.reject("wrong-type", path, fix, "%s is %s, but the API expects %s"+restSkipped, wrong.Field, value, wanted)
}

// wrongEntry returns the first key of a string map, such as labels, whose value is not a string: the decoder names
// only the map.
func wrongEntry(content map[string]any, wrong *json.UnmarshalTypeError) (string, bool) {
	if wrong.Type.Kind() != reflect.String {
		return "", false
	}
	var value any = content
	for name := range strings.SplitSeq(wrong.Field, ".") {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	entries, _ := value.(map[string]any)
	switch lastOf(field.NewPath(wrong.Field)) {
	case "labels", "annotations", "matchLabels", "nodeSelector":
	default: // an object where the API has a string
		return "", false
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if _, isText := entries[key].(string); !isText && entries[key] != nil {
			return key, true
		}
	}
	return "", false
}

// typeName returns a type of the API as users would call it.
func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "an integer"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "text"
}

// valueName returns the JSON type of a value as users would call it.
func valueName(value string) string {
	kind, literal, _ := strings.Cut(value, " ")
	switch kind {
	case "string":
		return "text"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	case "number":
		if literal != "" {
			return "the number " + literal
		}
		return "a number"
	}
	return value
}
