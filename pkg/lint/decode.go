package lint

import (
	"encoding/json"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// decode decodes the object strictly, as an API server does for kubectl. It returns false if there is nothing to
// check.
func (r *review) decode(content map[string]any) bool {
	data, err := json.Marshal(content)
	if err != nil {
		r.reject("not-readable", nil, "correct it", "not a Kubernetes object: %v"+restSkipped, err)
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
		r.notDecoded(content, err)
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
		r.reject("not-readable", nil, "provide a Job or CronJob", "not a batch/v1 Job or CronJob")
		return false
	}
	return true
}

// unknownField reports an error of the strict decoder, which quotes the path of an unknown field.
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

// lastOf returns the last name in a path.
func lastOf(path *field.Path) string {
	text := path.String()
	return text[strings.LastIndexByte(text, '.')+1:]
}
