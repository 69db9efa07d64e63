package manifest

// jobSetV1 has the same fields as JobSetVersion, as far as this package reads them.
const jobSetV1 = JobSetGroup + "/v1"

// ClaimedVolumes returns the names of the volumes in spec.volumeClaimPolicies, which JobSet adds to the pods of all its Jobs.
// It returns nil for other kinds.
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
