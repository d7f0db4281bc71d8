"""Test predictions in partitioned Parquet files with DuckDB: one machine, more data than memory.

DuckDB reads the columns that are asked for from the partitions that the filter leaves, on all processors. With its
extension httpfs the path may be in an object store ("s3://bucket/predictions/**/*.parquet").
"""

import tempfile

import duckdb

from skfairtest import CountTable, FairnessTest

with tempfile.TemporaryDirectory() as folder:
    connection = duckdb.connect()
    connection.execute("SET memory_limit = '1GB'")
    connection.execute(
        f"""
        COPY (
            SELECT range % 12 + 1 AS month, CASE WHEN hash(range) % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
                   (hash(range, 1) % 2)::TINYINT AS qualified, (hash(range, 2) % 10 < 4)::TINYINT AS approved
            FROM range(1200000)
        ) TO '{folder}' (FORMAT parquet, PARTITION_BY month)
        """
    )
    months = {}
    for month in range(1, 13):
        people = connection.sql(f"SELECT * FROM '{folder}/*/*.parquet' WHERE month = {month}")
        months[month] = CountTable.from_frame(people, y_true="qualified", y_pred="approved", sensitive_features="sex")
        months[month].to_frame().to_csv(f"{folder}/{month}.csv")  # a few hundred bytes: CountTable.from_counts reads it

    year = months[1].merge(*(months[month] for month in range(2, 13)))
    print(FairnessTest.from_table(year, metric="equalized_odds"))
    summer = months[6].merge(months[7], months[8])
    print(FairnessTest.from_table(summer, metric="selection_rate").p_value_)
