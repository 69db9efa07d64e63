package lint

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// decode reads the object strictly, as an API server does for kubectl. It is false if there is nothing to look at.
func (r *review) decode(content map[string]any) bool {
	data, err := json.Marshal(content)
	if err != nil {
		r.reject("not-readable", nil, "correct it", "not a Kubernetes object: %v", err)
		return false
	}
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		panic("registering batch/v1: " + err.Error())
	}
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Strict: true})
	object, _, err := decoder.Decode(data, nil, nil)
	if strict, isStrict := runtime.AsStrictDecodingError(err); isStrict {
		for _, problem := range strict.Errors() {
			r.unknownField(problem.Error())
		}
	} else if err != nil {
		r.notDecoded(err)
		return false
	}
	return r.take(object)
}

func (r *review) take(object runtime.Object) bool {
	switch o := object.(type) {
	case *batchv1.Job:
		r.meta, r.spec = &o.ObjectMeta, &o.Spec
	case *batchv1.CronJob:
		r.cronJob, r.path = o, field.NewPath("spec", "jobTemplate")
		r.meta, r.spec = &o.Spec.JobTemplate.ObjectMeta, &o.Spec.JobTemplate.Spec
	default:
		r.reject("not-readable", nil, "give a Job or a CronJob", "not a batch/v1 Job or CronJob")
		return false
	}
	return true
}

// unknownField reports what the strict decoder said, which quotes the path of a field that is not known.
func (r *review) unknownField(problem string) {
	if quoted, found := strings.CutPrefix(problem, "unknown field "); found {
		if name, err := strconv.Unquote(quoted); err == nil {
			path := field.NewPath(name)
			r.reject("unknown-field", path, "correct the name, or remove it", "batch/v1 has no field %s", path)
			return
		}
	}
	r.reject("not-readable", nil, "correct it", "%s", problem)
}

// notDecoded reports a value of the wrong type, with its field if the decoder says which.
func (r *review) notDecoded(err error) {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		r.reject("not-readable", nil, "correct it", "not a %s: %v", "batch/v1 object", err)
		return
	}
	r.reject("wrong-type", field.NewPath(wrong.Field), "write a value of type "+typeName(wrong.Type.String()),
		"%s is a %s here, where the API has %s", wrong.Field, wrong.Value, typeName(wrong.Type.String()))
}

// typeName is Go's name of a type, as users would say it.
func typeName(goName string) string {
	switch goName = strings.TrimLeft(goName, "*"); {
	case strings.HasPrefix(goName, "int"):
		return "integer"
	case goName == "bool":
		return "true or false"
	case strings.HasPrefix(goName, "[]"):
		return "list"
	case strings.HasPrefix(goName, "map["):
		return "object"
	case strings.HasPrefix(goName, "v1.") && strings.HasSuffix(goName, "Spec"):
		return "object"
	}
	return "text"
}

// lastOf is the last name in a path.
func lastOf(path *field.Path) string {
	text := path.String()
	return text[strings.LastIndexByte(text, '.')+1:]
}
