package mutations

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// without are the fields that no manifest of a Job has: the server sets them, or removed drivers had them.
var without = []string{
	"status", "managedFields", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "resourceVersion", "generation", "selfLink",
	"ephemeralContainers", "nodeName", "host", "serviceAccount", "priority", "scheduling", "schedulingGroup",
	"namespace", "quobyte", "flocker", "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos", "vsphereVolume", "cinder", "podCertificate",
}

// disabled are fields behind feature gates that are off, and which the API server drops.
var disabled = []string{
	"ClusterTrustBundleProjection.user", "ConfigMapVolumeSource.defaultUser", "DownwardAPIVolumeFile.user", "DownwardAPIVolumeSource.defaultUser", "EmptyDirVolumeSource.mode",
	"GRPCAction.mode", "HTTPGetAction.protocol", "KeyToPath.user", "PodSpec.evictionResponders", "ProjectedVolumeSource.defaultUser", "SecretVolumeSource.defaultUser",
	"ServiceAccountTokenProjection.user", "VolumeMount.bindMountOptions",
}

// Every field of every type of the API is in some manifest; a type that occurs at several places, such as a probe, is complete if
// its places have all of its fields together.
// Requirements: LNT-13
func TestTheManifestsHaveAllFields(t *testing.T) {
	originals, err := WithAllFields()
	assert.NoError(t, err)
	has := map[reflect.Type]map[string]bool{}
	for _, o := range originals {
		of := reflect.TypeFor[batchv1.Job]()
		if o["kind"] == "CronJob" {
			of = reflect.TypeFor[batchv1.CronJob]()
		}
		collectFields(of, o, has)
	}
	var missing []string
	for of, names := range has {
		for name := range fieldsOf(of) {
			if !names[name] && !slices.Contains(without, name) && !slices.Contains(disabled, of.Name()+"."+name) {
				missing = append(missing, of.Name()+"."+name)
			}
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("no manifest has\n%s", strings.Join(missing, "\n"))
	}
}

// fieldsOf returns the fields of a type, by their names in JSON.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			maps.Copy(fields, fieldsOf(f.Type))
		} else if name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// collectFields adds the fields that a value has to those of its type.
func collectFields(of reflect.Type, value any, has map[reflect.Type]map[string]bool) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch content, isObject := value.(map[string]any); {
	case of.Kind() == reflect.Slice:
		items, _ := value.([]any)
		for _, item := range items {
			collectFields(of.Elem(), item, has)
		}
	case isObject && of.Kind() == reflect.Struct:
		if has[of] == nil {
			has[of] = map[string]bool{}
		}
		fields := fieldsOf(of)
		for name, inner := range content {
			has[of][name] = true
			if fields[name] != nil {
				collectFields(fields[name], inner, has)
			}
		}
	}
}
