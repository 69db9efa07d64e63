package schema

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kind is the JSON form of a value.
type kind int

const (
	anything   kind = iota
	object          // with known fields
	dictionary      // with any keys
	list
	text
	integer
	number
	boolean
	quantity
	intOrText
	moment
)

// Schema describes the valid values of a type.
type Schema struct {
	kind kind
	// fields are the fields of an object by JSON name; names are the JSON names, sorted, and lower is names in lower case.
	fields       map[string]*Schema
	names, lower []string
	// elem is the Schema of the items of a list, or of the values of a dictionary.
	elem *Schema
	// bits is the size of an integer.
	bits int
	// allowed are the valid values of a text, nil if the API does not enumerate them; id is the ID of the finding about others.
	// An empty text is invalid if strict is set: it is no default.
	allowed []string
	id      string
	strict  bool
}

// special are the types with their own JSON decoding.
var special = map[reflect.Type]kind{
	reflect.TypeFor[resource.Quantity]():  quantity,
	reflect.TypeFor[intstr.IntOrString](): intOrText,
	reflect.TypeFor[metav1.Time]():        moment,
	reflect.TypeFor[metav1.MicroTime]():   moment,
	reflect.TypeFor[metav1.FieldsV1]():    anything,
}

// Of returns the Schema of a Go type of the Kubernetes API.
func Of(t reflect.Type) *Schema { return compiler{}.schema(t) }

// compiler holds the Schemas of types, so that recursion ends at a type that contains itself.
type compiler map[reflect.Type]*Schema

func (c compiler) schema(t reflect.Type) *Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known := c[t]; known != nil {
		return known
	}
	s := &Schema{}
	c[t] = s
	if k, found := special[t]; found {
		s.kind = k
		return s
	}
	switch t.Kind() {
	case reflect.Struct:
		s.kind, s.fields = object, c.fields(t)
		s.names = slices.Sorted(maps.Keys(s.fields))
		for _, name := range s.names {
			s.lower = append(s.lower, strings.ToLower(name))
		}
	case reflect.Map:
		s.kind, s.elem = dictionary, c.schema(t.Elem())
	case reflect.Slice:
		s.kind, s.elem = list, c.schema(t.Elem()).withoutEmpty()
		if t.Elem().Kind() == reflect.Uint8 { // base64
			s.kind, s.elem = text, nil
		}
	case reflect.String:
		s.kind, s.allowed, s.id = text, enums[t].values, enums[t].id
	case reflect.Int, reflect.Int32, reflect.Int64:
		s.kind, s.bits = integer, t.Bits()
	case reflect.Float64:
		s.kind = number
	case reflect.Bool:
		s.kind = boolean
	}
	return s
}

// withoutEmpty returns the Schema of a text that must not be empty if it has enumerated values, unlike a plain field, which may
// have a default.
func (s *Schema) withoutEmpty() *Schema {
	if s.allowed == nil {
		return s
	}
	strict := *s
	strict.strict = true
	return &strict
}

func (c compiler) fields(t reflect.Type) map[string]*Schema {
	fields := map[string]*Schema{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			maps.Copy(fields, c.fields(f.Type))
		case name != "" && name != "-":
			fields[name] = c.schema(f.Type)
			if f.Type.Kind() == reflect.Pointer {
				fields[name] = fields[name].withoutEmpty()
			}
		}
	}
	return fields
}

// String returns the kind of value in words for users.
func (s *Schema) String() string { return cmp.Or(kindWords[s.kind], "text") }

var kindWords = map[kind]string{
	object: "an object", dictionary: "an object", list: "a list", integer: "an integer", number: "a number", boolean: "true or false",
	quantity: "a quantity, such as 500m or 2Gi", intOrText: "an integer or text", moment: `a time, such as "2026-01-31T15:04:05Z"`,
}

// enum has the values of a text, and the ID of the finding about another one.
type enum struct {
	id     string
	values []string
}

// enums are the values that the API server accepts for string types, except for types that packages lint and apirules
// check.
var enums = map[reflect.Type]enum{
	reflect.TypeFor[corev1.MountPropagationMode]():          values(corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional),
	reflect.TypeFor[corev1.RecursiveReadOnlyMode]():         values(corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyIfPossible, corev1.RecursiveReadOnlyEnabled),
	reflect.TypeFor[corev1.PersistentVolumeAccessMode]():    values(corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod),
	reflect.TypeFor[corev1.PersistentVolumeMode]():          values(corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem),
	reflect.TypeFor[corev1.PreemptionPolicy]():              values(corev1.PreemptLowerPriority, corev1.PreemptNever),
	reflect.TypeFor[corev1.NodeInclusionPolicy]():           values(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore),
	reflect.TypeFor[corev1.SeccompProfileType]():            values(corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined, corev1.SeccompProfileTypeLocalhost),
	reflect.TypeFor[corev1.AppArmorProfileType]():           values(corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined, corev1.AppArmorProfileTypeLocalhost),
	reflect.TypeFor[corev1.ProcMountType]():                 values(corev1.DefaultProcMount, corev1.UnmaskedProcMount),
	reflect.TypeFor[corev1.PodFSGroupChangePolicy]():        values(corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways),
	reflect.TypeFor[corev1.PodSELinuxChangePolicy]():        values(corev1.SELinuxChangePolicyRecursive, corev1.SELinuxChangePolicyMountOption),
	reflect.TypeFor[corev1.SupplementalGroupsPolicy]():      values(corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
	reflect.TypeFor[corev1.OSName]():                        values(corev1.Linux, corev1.Windows),
	reflect.TypeFor[corev1.HostPathType]():                  values(corev1.HostPathUnset, corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate, corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev),
	reflect.TypeFor[corev1.AzureDataDiskCachingMode]():      values(corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite),
	reflect.TypeFor[corev1.AzureDataDiskKind]():             values(corev1.AzureSharedBlobDisk, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk),
	reflect.TypeFor[corev1.PullPolicy]():                    values(corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever).as("pull-policy-unknown"),
	reflect.TypeFor[corev1.TerminationMessagePolicy]():      values(corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError).as("message-policy-unknown"),
	reflect.TypeFor[corev1.Protocol]():                      values(corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP).as("protocol-unknown"),
	reflect.TypeFor[corev1.DNSPolicy]():                     values(corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone).as("dns-policy-unknown"),
	reflect.TypeFor[corev1.URIScheme]():                     values(corev1.URISchemeHTTP, corev1.URISchemeHTTPS).as("probe-invalid"),
	reflect.TypeFor[corev1.TolerationOperator]():            values(corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt).as("toleration-invalid"),
	reflect.TypeFor[corev1.TaintEffect]():                   values(corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute).as("toleration-invalid"),
	reflect.TypeFor[corev1.UnsatisfiableConstraintAction](): values(corev1.DoNotSchedule, corev1.ScheduleAnyway).as("spread-invalid"),
}

func values[T ~string](allowed ...T) enum {
	texts := make([]string, len(allowed))
	for i := range allowed {
		texts[i] = string(allowed[i])
	}
	return enum{"value-unknown", texts}
}

func (e enum) as(id string) enum { return enum{id, e.values} }
