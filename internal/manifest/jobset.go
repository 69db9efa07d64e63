package manifest

// jobSetV1 has the same fields as JobSetVersion, as far as they are read here.
const jobSetV1 = JobSetGroup + "/v1"

// IsJobSetVersion reports whether JobSet has this API version.
func IsJobSetVersion(version string) bool { return version == JobSetVersion || version == jobSetV1 }

// ClaimedVolumes returns the names of the volumes that JobSet adds to the pods of all its Jobs: those of
// spec.volumeClaimPolicies. It returns none for other kinds.
func (o *Object) ClaimedVolumes() []string {
	var names []string
	policies, _ := fields(o.Content["spec"])["volumeClaimPolicies"].([]any)
	for _, policy := range policies {
		templates, _ := fields(policy)["templates"].([]any)
		for _, template := range templates {
			names = append(names, text(fields(fields(template)["metadata"])["name"]))
		}
	}
	return names
}
