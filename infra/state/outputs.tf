output "bucket" {
  description = "The name of the bucket: template.yaml's StateBucket, and `bucket` of backend blocks."
  value       = aws_s3_bucket.states.bucket
}

output "table" {
  description = "The name of the table: template.yaml's StateTable, and `dynamodb_table` of backend blocks; empty if there is none."
  value       = one(aws_dynamodb_table.locks[*].name) == null ? "" : one(aws_dynamodb_table.locks[*].name)
}

output "key_arn" {
  description = "The ARN of the key: template.yaml's StateKeyArn, and `kms_key_id` of backend blocks."
  value       = aws_kms_key.states.arn
}

output "role_arn" {
  description = "The ARN of the role with access to the states: `lockstep serve -state-role`; null if there is none."
  value       = one(aws_iam_role.states[*].arn)
}
